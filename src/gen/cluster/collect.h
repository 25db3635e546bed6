#ifndef FAIRLEAD_GEN_CLUSTER_COLLECT_H_
#define FAIRLEAD_GEN_CLUSTER_COLLECT_H_

#include <string>
#include <vector>

#include "gen/cluster/inputs.h"
#include "gen/hosts/udp_routes.h"
#include "mesh/view/view.h"

// Reads the snapshot: which clusters a proxy gets, and from what each is made.
namespace fairlead::gen {

ClusterTraits CollectTraits(mesh::View& view);

// Clusters for one of the services that the proxy sees, its ports and subsets. With `dns_srv`, those of a
// gateway that passes mutual TLS through: services of the mesh alone, and no TLS of its own.
std::vector<OutboundClusterInputs> CollectOutbound(mesh::View& view, const model::ServicePtr& service,
                                                   const ClusterTraits& traits, bool dns_srv);

// Clusters for ports of UDP of one service.
std::vector<OutboundClusterInputs> CollectUdpOutbound(mesh::View& view, const UdpPorts& ports,
                                                      const ClusterTraits& traits);

// The identities that mutual TLS expects at a service, sorted: its endpoints' and its own ones, in every
// alias of our trust domain. `endpoints` are the service's.
std::vector<std::string> IdentitiesOf(mesh::View& view, const model::Service& service,
                                      const mesh::EndpointTraits& endpoints);

// Clusters for what the workload itself serves: its Sidecar's ingress listeners, else the ports that services
// lead to.
std::vector<InboundClusterInputs> CollectInbound(mesh::View& view, const ClusterTraits& traits);

// The services of a router that the VirtualServices of its Gateways or the mesh's extension providers name
// (PILOT_FILTER_GATEWAY_CLUSTER_CONFIG). Source: Istio's GatewayServices.
std::vector<model::ServicePtr> CollectRoutedServices(mesh::View& view);

// Clusters that every proxy of a kind has.
std::vector<FixedInputs> CollectFixed(mesh::View& view, const ClusterTraits& traits);

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_CLUSTER_COLLECT_H_
