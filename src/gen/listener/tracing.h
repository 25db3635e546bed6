#ifndef FAIRLEAD_GEN_LISTENER_TRACING_H_
#define FAIRLEAD_GEN_LISTENER_TRACING_H_

#include <string>

#include "gen/listener/telemetry.h"
#include "mesh/proxy_scope.h"

namespace envoy::extensions::filters::network::http_connection_manager::v3 {
class HttpConnectionManager;
}

namespace fairlead::gen::listener {

struct ProxyTraits;

// Which attributes of a proxy its traces name: what is not needed stays out of the traits.
struct TracingNeeds {
  bool tags = false;
  bool service_cluster = false;
  bool otel_service_name = false;
};
TracingNeeds TracingNeedsOf(const ProxyTraits& traits);

// service.name after OpenTelemetry's conventions for Kubernetes. Source: Istio's otelServiceName.
std::string OtelServiceName(const mesh::ProxyScope& scope);

// Sets the connection manager's tracing and its request-id extension. Pure. Source: Istio's configureTracing;
// the Telemetry API's Tracing, MeshConfig.defaultProviders.tracing, and ProxyConfig.tracing where neither
// says anything.
void SetTracing(const ProxyTraits& traits, TrafficClass traffic,
                envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager* out);

}  // namespace fairlead::gen::listener

#endif  // FAIRLEAD_GEN_LISTENER_TRACING_H_
