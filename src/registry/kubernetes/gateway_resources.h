#ifndef FAIRLEAD_REGISTRY_KUBERNETES_GATEWAY_RESOURCES_H_
#define FAIRLEAD_REGISTRY_KUBERNETES_GATEWAY_RESOURCES_H_

#include <vector>

#include "config/object.h"
#include "model/workload.h"
#include "registry/mesh_facts.h"

namespace fairlead::registry {

// The gateways to another network that a Gateway of the Gateway API announces: one labelled
// topology.istio.io/network, at each of its spec's IP addresses and host names, for each listener that passes
// mutual TLS through (by the option gateway.istio.io/listener-protocol: auto-passthrough, or by its port) or
// speaks HBONE. None with Features::network_gateways off.
void AppendGatewaysOfResource(const config::ConfigObject& gateway, const MeshFacts& facts,
                              std::vector<model::NetworkGateway>* gateways);

}  // namespace fairlead::registry

#endif  // FAIRLEAD_REGISTRY_KUBERNETES_GATEWAY_RESOURCES_H_
