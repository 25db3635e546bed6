#include <memory>
#include <string>
#include <utility>

#include "gen/grpc/build.h"
#include "gen/grpc/generators.h"
#include "gen/naming/cluster_name.h"
#include "gen/route/answer_generator.h"
#include "gen/route/build.h"
#include "gen/route/collect.h"

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

class RouteGenerator final : public route::AnswerGenerator<RouteInputs> {
 protected:
  cache::ResourcePtr Make(const mesh::SidecarScope& scope, const route::Question& question) override {
    const ParsedClusterName parsed = ParseClusterName(question.name);
    if (parsed.host.empty() || parsed.port == 0) return nullptr;
    const RouteInputs inputs{question.name,
                             route::CollectHosts(scope, question.client, question.labels, question.settings,
                                                 parsed.port, question.name)};
    return cache_.GetOrBuild(inputs, [&](const RouteInputs& in) { return Build(in, parsed); });
  }

 private:
  cache::ResourcePtr Build(const RouteInputs& inputs, const ParsedClusterName& name) {
    const bool attempts = inputs.hosts != nullptr && inputs.hosts->client.include_attempt_count;
    const route::VirtualHosts hosts = HostsFor(*hosts_.Get(inputs.hosts), name.host, name.port);
    return EncodeBytes(inputs.name, kType,
                       route::BuildProxylessRouteConfiguration(inputs.name, hosts, attempts));
  }
};

}  // namespace
}  // namespace grpc

std::unique_ptr<Generator> NewGrpcRouteGenerator() { return std::make_unique<grpc::RouteGenerator>(); }

}  // namespace fairlead::gen
