#ifndef FAIRLEAD_GEN_ENDPOINT_COLLECT_H_
#define FAIRLEAD_GEN_ENDPOINT_COLLECT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "gen/endpoint/inputs.h"
#include "gen/policy/traffic_policy.h"
#include "mesh/view/view.h"

namespace fairlead::gen {

// The inputs of the assignment that a proxy asks for by cluster name. Names of no cluster, and services that
// the proxy does not see, have inputs too: of an empty assignment.
EndpointInputs CollectEndpoints(mesh::View& view, std::string_view cluster_name);

// The inputs of a DNS cluster's inline endpoints. `cluster_name` says whether only mTLS endpoints count (DNS
// SRV names).
EndpointInputs CollectInlineEndpoints(mesh::View& view, std::string_view cluster_name,
                                      const model::ServicePtr& service, uint32_t port,
                                      std::string_view subset, const mesh::DestinationRulePtr& rule);

// Adds what locality load balancing by that policy reads of the client. Inline endpoints are balanced by
// their cluster, whose policy includes the mesh's defaults.
void CollectLocality(const EffectivePolicy& effective, mesh::View& view, EndpointInputs* inputs);

// Whether a host's endpoints of other clusters are out of bounds. Source: MeshConfig.serviceSettings, and
// Istio's defaults: kube-system, the API server and the control plane itself.
bool IsClusterLocal(const model::Settings& settings, std::string_view host);

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_ENDPOINT_COLLECT_H_
