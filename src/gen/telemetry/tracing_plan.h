#ifndef FAIRLEAD_GEN_TELEMETRY_TRACING_PLAN_H_
#define FAIRLEAD_GEN_TELEMETRY_TRACING_PLAN_H_

#include <optional>
#include <string>

#include "gen/telemetry/view.h"

namespace envoy::extensions::filters::network::http_connection_manager::v3 {
class HttpConnectionManager_Tracing;
}
namespace istio::mesh::v1alpha1 {
class MeshConfig;
class MeshConfig_ExtensionProvider;
class ProxyConfig;
}  // namespace istio::mesh::v1alpha1
namespace istio::telemetry::v1alpha1 {
class Tracing;
}

// For the sources of this folder that look up extension providers.
namespace fairlead::gen::telemetry {

struct Traits;

using ExtensionProvider = istio::mesh::v1alpha1::MeshConfig_ExtensionProvider;

// MeshConfig's extension provider of a name, in any case; null where there is none.
const ExtensionProvider* FindProvider(const istio::mesh::v1alpha1::MeshConfig& mesh, std::string_view name);

// The result of Telemetry objects and default providers, for one direction.
struct TracingPlan {
  const ExtensionProvider* provider = nullptr;  // null: none found, spans are off
  bool disabled = false;
  std::optional<double> sampling;
  const istio::telemetry::v1alpha1::Tracing* tagged =
      nullptr;  // whose custom tags count; null for ProxyConfig's
  bool use_request_id = true;
  bool istio_tags = true;
  bool disable_propagation = false;
};

// nullopt: nothing is said, ProxyConfig.tracing counts. Source: Istio's Telemetries.Tracing.
std::optional<TracingPlan> PlanTracing(const Traits& traits, TrafficClass traffic);

// Whether ProxyConfig asks for Istio's tags.
bool WantsIstioTags(const istio::mesh::v1alpha1::ProxyConfig& config);

// Fills `out` for the plan's provider; false where the provider cannot trace or its service is unknown.
// `own_sampler`: the provider decides about sampling itself. Source: Istio's configureFromProviderConfig.
bool SetTracingProvider(
    const Traits& traits, const ExtensionProvider& provider,
    envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager_Tracing* out,
    bool* own_sampler);

}  // namespace fairlead::gen::telemetry

#endif  // FAIRLEAD_GEN_TELEMETRY_TRACING_PLAN_H_
