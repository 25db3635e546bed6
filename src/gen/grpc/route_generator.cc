#include <memory>
#include <string>
#include <utility>

#include "gen/grpc/build.h"
#include "gen/grpc/generators.h"
#include "gen/naming/cluster_name.h"
#include "gen/route/build.h"
#include "gen/route/collect.h"
#include "gen/route/named_routes.h"

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
  Resources Generate(mesh::View& view, const Names* names, size_t /*part*/) override {
    Resources out;
    if (names == nullptr) return out;
    for (const std::string& name : *names) {
      const ParsedClusterName parsed = ParseClusterName(name);
      if (parsed.host.empty() || parsed.udp || parsed.port == 0) continue;
      out.push_back(
          named_routes_.Get(view, name, [&](mesh::View& of_name) { return Make(of_name, name, parsed); }));
    }
    return out;
  }

  void Sweep(Clock::time_point now) override {
    named_routes_.Sweep(now);
    hosts_.Sweep(now);
    cache_.Sweep(now);
  }

 private:
  cache::ResourcePtr Make(mesh::View& view, const std::string& name, const ParsedClusterName& parsed) {
    const RouteInputs inputs{name, route::CollectHosts(view, parsed.port, name)};
    return cache_.GetOrBuild(inputs, [&](const RouteInputs& in) { return Build(in, parsed); });
  }

  cache::ResourcePtr Build(const RouteInputs& inputs, const ParsedClusterName& name) {
    const bool attempts = inputs.hosts != nullptr && inputs.hosts->client.include_attempt_count;
    const route::VirtualHosts hosts = HostsFor(*hosts_.Get(inputs.hosts), name.host, name.port);
    return EncodeBytes(inputs.name, kType,
                       route::BuildProxylessRouteConfiguration(inputs.name, hosts, attempts));
  }

  route::NamedRoutes named_routes_;
  route::HostCache hosts_;
  cache::ByteCache<RouteInputs> cache_;
};

}  // namespace
}  // namespace grpc

std::unique_ptr<Generator> NewGrpcRouteGenerator() { return std::make_unique<grpc::RouteGenerator>(); }

}  // namespace fairlead::gen
