#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "gen/generator.h"
#include "gen/patch/pool.h"
#include "gen/resource/unknown_answer.h"
#include "gen/route/collect.h"
#include "gen/route/host_index.h"
#include "gen/route/route_name.h"

namespace fairlead::gen {
namespace route {
namespace {

constexpr std::string_view kType = "envoy.config.route.v3.VirtualHost";

using HostIndexPtr = std::shared_ptr<const HostIndex>;

// "9080/reviews" names the host "reviews" of the route configuration "9080". A host has no slash, a route
// configuration may have. Source: Envoy, "VHDS: virtual host resource naming convention".
struct HostName {
  std::string configuration, host;  // no host: the configuration as such
};

HostName ParseHostName(std::string_view name) {
  const size_t slash = name.rfind('/');
  if (slash == std::string_view::npos) return {std::string(name), ""};
  return {std::string(name.substr(0, slash)), AsciiLower(name.substr(slash + 1))};
}

cache::ResourcePtr Nothing(const std::string& name) {
  return UnknownAnswer(cache::TypeId::kVirtualHost, name, [&] {
    auto resource = std::make_shared<cache::Resource>();
    resource->name = Interned(name);
    return resource;
  });
}

// Every name is answered, one that stands for nothing with a resource without content: the proxy holds a
// request until it hears of the host. Source: Envoy, "VHDS: using the on-demand filter".
class VirtualHostGenerator final : public Generator {
 public:
  Resources Generate(mesh::View& view, const Names* names, size_t /*part*/) override {
    Resources out;
    if (names == nullptr) return out;
    std::map<std::string, HostIndexPtr> known;
    for (const std::string& name : *names) {
      const HostName wanted = ParseHostName(name);
      const auto [at, fresh] = known.try_emplace(wanted.configuration);
      if (fresh) at->second = IndexOf(view, wanted.configuration);
      const HostIndex* index = wanted.host.empty() ? nullptr : at->second.get();
      const auto answer = index == nullptr ? std::nullopt : index->Answer(wanted.host);
      out.push_back(answer ? EncodeBytes(name, kType, *answer) : Nothing(name));
    }
    return out;
  }

  // Indexes are large.
  void Sweep(Clock::time_point now) override {
    indexes_.Sweep(now, std::chrono::seconds(5));
    patches_.Sweep(now);
  }

 private:
  // Null where the proxy has no such route configuration, or one without hosts.
  HostIndexPtr IndexOf(mesh::View& view, const std::string& configuration) {
    const bool served = view.proxy_class().type != model::ProxyType::kRouter;
    if (!served || ParseRouteName(configuration).kind == RouteName::Kind::kUnknown) return nullptr;
    return view.Use(
        indexes_, ScopeKey::Of(view, configuration),
        [&](mesh::View& of_configuration) {
          Inputs inputs = CollectInputs(of_configuration, configuration);
          patch::PatchSetPtr patches = patches_.Collect(of_configuration, patch::Side::kOutbound);
          if (patches == nullptr) return IndexHosts(inputs);
          return IndexHosts(patch::Patched<Inputs>{std::move(inputs), std::move(patches)});
        },
        // What is cut out of it is compared.
        [](const HostIndex&, const HostIndex&) { return true; });
  }

  cache::RecordedCache<ScopeKey, HostIndex, mesh::Reads> indexes_;
  patch::PatchPool patches_{patch::Stage::kRoutes};
};

}  // namespace
}  // namespace route

std::unique_ptr<Generator> NewVirtualHostGenerator() {
  return std::make_unique<route::VirtualHostGenerator>();
}

}  // namespace fairlead::gen
