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
#include "gen/naming/unknown_answer.h"
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

HostIndexPtr MakeIndex(const Request& request, const std::string& configuration) {
  const mesh::SidecarScope& scope = *request.scope.sidecar;
  const model::SettingsPtr& settings = request.snapshot.settings;
  const LabelMap labels = LabelsMatter(scope) ? request.scope.labels : LabelMap();
  return IndexHosts(
      CollectInputs(scope, TraitsOf(request.scope, *settings), labels, settings, configuration));
}

// The indexes of the route configurations that were asked for last, as they may be large. Thread-safe.
class HostIndexes {
 public:
  // INVARIANT: one resource has one index, as both are made of the same inputs.
  template <typename Make>
  HostIndexPtr Get(const cache::ResourcePtr& configuration, const Make& make) {
    constexpr size_t kKept = 16;
    std::lock_guard lock(mutex_);  // the second to ask waits for the first one's work
    const auto known = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& entry) { return entry.first == configuration; });
    if (known != entries_.end()) {
      entries_.splice(entries_.begin(), entries_, known);
      return known->second;
    }
    entries_.emplace_front(configuration, make());
    if (entries_.size() > kKept) entries_.pop_back();
    return entries_.front().second;
  }

  // Drops those of route configurations that are held here alone.
  void Sweep() {
    std::lock_guard lock(mutex_);
    entries_.remove_if([](const Entry& entry) { return entry.first.use_count() <= 1; });
  }

 private:
  using Entry = std::pair<cache::ResourcePtr, HostIndexPtr>;
  std::mutex mutex_;
  std::list<Entry> entries_;  // the last one asked for is the first
};

// Every name is answered, one that stands for nothing with a resource without content: the proxy holds a
// request until it hears of the host. Source: Envoy, "VHDS: using the on-demand filter".
class VirtualHostGenerator final : public Generator {
 public:
  explicit VirtualHostGenerator(Generator* routes) : routes_(routes) {}

  std::vector<cache::ResourcePtr> Generate(const Request& request) override {
    std::vector<cache::ResourcePtr> out;
    if (request.names == nullptr) return out;
    std::map<std::string, HostIndexPtr> known;
    for (const std::string& name : *request.names) {
      const HostName wanted = ParseHostName(name);
      const auto [at, fresh] = known.try_emplace(wanted.configuration);
      if (fresh) at->second = IndexOf(request, wanted.configuration);
      const HostIndex* index = wanted.host.empty() ? nullptr : at->second.get();
      const auto answer = index == nullptr ? std::nullopt : index->Answer(wanted.host);
      out.push_back(answer ? EncodeBytes(name, kType, *answer) : Nothing(name));
    }
    return out;
  }

  PartStamp Stamp(const Request& request, size_t part) const override {
    return routes_->Stamp(request, part);
  }

  std::optional<std::string> PartKey(const Request& request, size_t part) override {
    return routes_->PartKey(request, part);
  }

  void Sweep() override { indexes_.Sweep(); }

 private:
  // Null where the proxy has no such route configuration, or one without hosts.
  HostIndexPtr IndexOf(const Request& request, const std::string& configuration) {
    if (ParseRouteName(configuration).kind == RouteName::Kind::kUnknown) return nullptr;
    const std::vector<std::string> names = {configuration};
    for (const cache::ResourcePtr& resource : routes_->Generate({request.snapshot, request.scope, &names})) {
      if (resource->name == configuration)
        return indexes_.Get(resource, [&] { return MakeIndex(request, configuration); });
    }
    return nullptr;
  }

  Generator* const routes_;
  HostIndexes indexes_;
};

}  // namespace
}  // namespace route

std::unique_ptr<Generator> NewVirtualHostGenerator(Generator* routes) {
  return std::make_unique<route::VirtualHostGenerator>(routes);
}

}  // namespace fairlead::gen
