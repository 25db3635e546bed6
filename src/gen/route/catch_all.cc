#include "gen/route/catch_all.h"

#include "envoy/config/route/v3/route_components.pb.h"

namespace fairlead::gen::route {
namespace {

namespace pb = envoy::config::route::v3;

void Forward(const std::string& cluster, bool append_x_forwarded_host, pb::Route* out) {
  pb::RouteAction* action = out->mutable_route();
  action->set_cluster(cluster);
  action->mutable_timeout();
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  action
      ->mutable_max_grpc_timeout();  // Istio's choice: its successor max_stream_duration behaves differently
#pragma GCC diagnostic pop
  action->set_append_x_forwarded_host(append_x_forwarded_host);
}

}  // namespace

void BuildCatchAllVirtualHost(const CatchAll& policy, pb::VirtualHost* out) {
  out->add_domains(std::string(1, '*'));
  out->set_include_request_attempt_count(policy.include_attempt_count);
  pb::Route* route = out->add_routes();
  route->mutable_match()->set_prefix("/");
  switch (policy.mode) {
    case CatchAllMode::kBlackHole:
      out->set_name("block_all");
      route->mutable_direct_response()->set_status(502);
      break;
    case CatchAllMode::kPassthrough:
      out->set_name("allow_any");
      Forward(policy.cluster, policy.append_x_forwarded_host, route);
      break;
    case CatchAllMode::kDynamicDns:
      out->set_name("allow_any_dynamic_dns");
      Forward("AllowAnyDynamicDNSCluster", policy.append_x_forwarded_host, route);
      break;
  }
  route->set_name(out->name());
}

}  // namespace fairlead::gen::route
