#ifndef FAIRLEAD_REGISTRY_KUBERNETES_NETWORK_GATEWAYS_H_
#define FAIRLEAD_REGISTRY_KUBERNETES_NETWORK_GATEWAYS_H_

#include <vector>

#include "config/store.h"
#include "model/service.h"
#include "model/workload.h"
#include "registry/mesh_facts.h"

namespace fairlead::registry {

// Whether a service may be a gateway to its network: by its label topology.istio.io/network or by
// MeshNetworks.
bool MayBeNetworkGateway(const model::Service& service, const MeshFacts& facts);

// The gateways that a service is, one for each of its external addresses: those of its load balancer and
// externalIPs, or for a NodePort service with the annotation traffic.istio.io/nodeSelector those of the nodes
// selected. The label networking.istio.io/gatewayPort may name another port than 15443.
void AppendGatewaysOfService(const model::Service& service, const config::ObjectStore& store,
                             const MeshFacts& facts, std::vector<model::NetworkGateway>* gateways);

}  // namespace fairlead::registry

#endif  // FAIRLEAD_REGISTRY_KUBERNETES_NETWORK_GATEWAYS_H_
