#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cache/byte_cache.h"
#include "gen/grpc/build.h"
#include "gen/grpc/generators.h"
#include "gen/naming/cluster_name.h"
#include "gen/route/build.h"
#include "gen/route/collect.h"
#include "gen/route/host_cache.h"
#include "gen/route/scope_memo.h"

namespace fairlead::gen {
namespace grpc {
namespace {

constexpr std::string_view kType = "envoy.config.route.v3.RouteConfiguration";

// All that one route configuration is made from.
struct RouteInputs {
  std::string name;
  route::HostInputsPtr hosts;  // of the port; null where no egress listener is there for it

  friend bool operator==(const RouteInputs& a, const RouteInputs& b) {
    const bool same_hosts = a.hosts == b.hosts || (a.hosts && b.hosts && *a.hosts == *b.hosts);
    return same_hosts && a.name == b.name;
  }
  template <typename H>
  friend H AbslHashValue(H h, const RouteInputs& i) {
    h = H::combine(std::move(h), i.name, i.hosts != nullptr);
    return i.hosts == nullptr ? std::move(h) : H::combine(std::move(h), *i.hosts);
  }
};

class RouteGenerator final : public Generator {
 public:
  std::vector<cache::ResourcePtr> Generate(const Request& request) override {
    std::vector<cache::ResourcePtr> out;
    if (request.names == nullptr) return out;
    const auto answers = memo_.For(request.scope.sidecar);
    const model::SettingsPtr& settings = request.snapshot.settings;
    const route::Question question{route::TraitsOf(request.scope, *settings),
                                   answers->labels_matter() ? request.scope.labels : LabelMap(),
                                   settings,
                                   {}};
    for (const std::string& name : *request.names) {
      const ParsedClusterName parsed = ParseClusterName(name);
      if (parsed.host.empty() || parsed.port == 0) continue;
      out.push_back(Answer(*request.scope.sidecar, *answers, question, name, parsed));
    }
    return out;
  }

  std::optional<std::string> PartKey(const Request& request, size_t /*part*/) override {
    const bool labels_matter = memo_.For(request.scope.sidecar)->labels_matter();
    return route::SharingKey(*request.scope.sidecar,
                             route::TraitsOf(request.scope, *request.snapshot.settings),
                             labels_matter ? request.scope.labels : LabelMap());
  }

  void Sweep() override {
    memo_.Sweep();
    hosts_.Sweep();
    cache_.Sweep();
  }

 private:
  cache::ResourcePtr Answer(const mesh::SidecarScope& scope, route::ScopeMemo::Scope& answers,
                            route::Question question, const std::string& name,
                            const ParsedClusterName& parsed) {
    question.name = name;
    if (cache::ResourcePtr known = answers.Find(question)) return known;
    const RouteInputs inputs{name, route::CollectHosts(scope, question.client, question.labels,
                                                       question.settings, parsed.port, name)};
    cache::ResourcePtr resource =
        cache_.GetOrBuild(inputs, [&](const RouteInputs& in) { return Build(in, parsed); });
    answers.Keep(std::move(question), resource);
    return resource;
  }

  cache::ResourcePtr Build(const RouteInputs& inputs, const ParsedClusterName& name) {
    const bool attempts = inputs.hosts != nullptr && inputs.hosts->client.include_attempt_count;
    const route::VirtualHosts hosts = HostsFor(*hosts_.Get(inputs.hosts), name.host, name.port);
    return EncodeBytes(inputs.name, kType,
                       route::BuildProxylessRouteConfiguration(inputs.name, hosts, attempts));
  }

  route::ScopeMemo memo_;
  route::HostCache hosts_;
  cache::ByteCache<RouteInputs> cache_;
};

}  // namespace
}  // namespace grpc

std::unique_ptr<Generator> NewGrpcRouteGenerator() { return std::make_unique<grpc::RouteGenerator>(); }

}  // namespace fairlead::gen
