#ifndef FAIRLEAD_GEN_TELEMETRY_TRACING_H_
#define FAIRLEAD_GEN_TELEMETRY_TRACING_H_

#include "gen/telemetry/view.h"
#include "mesh/view/view.h"

namespace envoy::extensions::filters::network::http_connection_manager::v3 {
class HttpConnectionManager;
}

namespace fairlead::gen::telemetry {

struct Traits;

// Sets the attributes of a proxy that its traces name: what is not needed stays out of the traits.
// REQUIRES: everything else of the traits is set.
void CollectTracing(mesh::View& view, Traits* traits);

// Sets the connection manager's tracing and its request-id extension. Pure. Source: Istio's configureTracing;
// the Telemetry API's Tracing, MeshConfig.defaultProviders.tracing, and ProxyConfig.tracing where neither
// says anything.
void SetTracing(const Traits& traits, TrafficClass traffic,
                envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager* out);

}  // namespace fairlead::gen::telemetry

#endif  // FAIRLEAD_GEN_TELEMETRY_TRACING_H_
