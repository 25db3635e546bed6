#ifndef FAIRLEAD_GEN_ENDPOINT_BUILD_H_
#define FAIRLEAD_GEN_ENDPOINT_BUILD_H_

#include <vector>

#include "gen/endpoint/inputs.h"
#include "gen/policy/locality_lb.h"

namespace envoy::config::endpoint::v3 {
class ClusterLoadAssignment;
}

namespace fairlead::gen {

// Pure: what a client is sent for one cluster over EDS.
envoy::config::endpoint::v3::ClusterLoadAssignment BuildLoadAssignment(const EndpointInputs& inputs);

// Pure: the endpoints by locality, filtered and with gateways in place of other networks' ones, before any
// locality load balancing; sorted by locality.
std::vector<LocalityGroup> BuildLocalityGroups(const EndpointInputs& inputs);

// Replaces endpoints of unreachable networks by the gateways of those networks (Istio: split-horizon EDS).
// The gateways of a network share the weight of its endpoints.
std::vector<LocalityGroup> RouteThroughGateways(const EndpointInputs& inputs,
                                                std::vector<LocalityGroup> groups);

// Whether an endpoint is marked as speaking Istio's mutual TLS.
bool SpeaksMutualTls(const envoy::config::endpoint::v3::LbEndpoint& endpoint);
// The "istio" workload string and the transport socket match of an endpoint or a gateway, by its TLS mode; ""
// and "disabled": it gets none.
void SetEndpointMetadata(const EndpointInputs& inputs, const model::Workload& workload,
                         std::string_view tls_mode, envoy::config::endpoint::v3::LbEndpoint* endpoint);
// Sets a group's weight to the sum of its endpoints' weights; unset where it has none.
void RefreshWeight(envoy::config::endpoint::v3::LocalityLbEndpoints* group);

// The DestinationRule's message, or null.
const api::DestinationRule* SpecOf(const mesh::DestinationRulePtr& rule);
// The policy for the port and subset without the mesh's defaults, which endpoints do not look at.
EffectivePolicy EndpointPolicy(const EndpointInputs& inputs);

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_ENDPOINT_BUILD_H_
