#ifndef FAIRLEAD_GEN_ROUTE_INBOUND_H_
#define FAIRLEAD_GEN_ROUTE_INBOUND_H_

#include <cstdint>
#include <string>

#include "model/protocol.h"

namespace envoy::config::route::v3 {
class RouteConfiguration;
}

namespace istio::networking::v1alpha3 {
class HTTPRetry;
}

namespace fairlead::gen::route {

// Everything that the route configuration of one inbound HTTP filter chain is made from. It has one virtual
// host with one route: to the workload's own port. It is sent inline, in the chain's connection manager.
struct InboundRoute {
  std::string cluster;    // "inbound|8080||" or "InboundPassthroughCluster"; also the configuration's name
  std::string operation;  // of the tracing decorator: "reviews.default.svc.cluster.local:9080/*"
  uint32_t port = 0;      // the service port's number, part of the virtual host's name
  model::Protocol protocol = model::Protocol::kUnsupported;  // gRPC ports are not retried
  // MeshConfig.default_inbound_http_retry_policy; null: Istio's default. Not owned.
  const istio::networking::v1alpha3::HTTPRetry* retries = nullptr;
};

// Pure. Source: Istio's buildSidecarInboundHTTPRouteConfig.
void BuildInboundRouteConfiguration(const InboundRoute& route,
                                    envoy::config::route::v3::RouteConfiguration* out);

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_INBOUND_H_
