#include "gen/route/inbound.h"

#include "base/strings.h"
#include "envoy/config/route/v3/route.pb.h"
#include "envoy/config/route/v3/route_components.pb.h"
#include "gen/route/retry_on.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"

namespace fairlead::gen::route {
namespace {

namespace pb = envoy::config::route::v3;

// One host to choose from: neither other hosts to prefer nor more time a try would mean anything.
void SetRetryPolicy(const istio::networking::v1alpha3::HTTPRetry* policy, pb::RouteAction* action) {
  if (policy != nullptr && policy->attempts() <= 0) return;
  pb::RetryPolicy* out = action->mutable_retry_policy();
  out->mutable_num_retries()->set_value(policy == nullptr ? 2 : static_cast<uint32_t>(policy->attempts()));
  out->set_retry_on("reset-before-request");
  if (policy == nullptr) return;
  if (!policy->retry_on().empty()) SetRetryOn(policy->retry_on(), out);
  if (policy->has_backoff()) *out->mutable_retry_back_off()->mutable_base_interval() = policy->backoff();
}

}  // namespace

void BuildInboundRouteConfiguration(const InboundRoute& route, pb::RouteConfiguration* out) {
  out->set_name(route.cluster);
  out->mutable_validate_clusters()->set_value(false);
  pb::VirtualHost* host = out->add_virtual_hosts();
  host->set_name(StrCat("inbound|http|", route.port));
  host->add_domains(std::string(1, '*'));
  pb::Route* only = host->add_routes();
  only->set_name("default");
  only->mutable_match()->set_prefix("/");
  only->mutable_decorator()->set_operation(route.operation);
  pb::RouteAction* action = only->mutable_route();
  action->set_cluster(route.cluster);
  action->mutable_timeout();
  action->mutable_max_stream_duration()->mutable_max_stream_duration();
  action->mutable_max_stream_duration()->mutable_grpc_timeout_header_max();
  // "reset-before-request" does harm to gRPC streams.
  if (route.protocol != model::Protocol::kGrpc && route.protocol != model::Protocol::kGrpcWeb) {
    SetRetryPolicy(route.retries, action);
  }
}

}  // namespace fairlead::gen::route
