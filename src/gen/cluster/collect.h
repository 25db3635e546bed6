#ifndef FAIRLEAD_GEN_CLUSTER_COLLECT_H_
#define FAIRLEAD_GEN_CLUSTER_COLLECT_H_

#include <string>
#include <vector>

#include "gen/cluster/inputs.h"
#include "mesh/proxy_scope.h"
#include "mesh/snapshot.h"

// Reads the snapshot: which clusters a proxy gets, and from what each is made.
namespace fairlead::gen {

ClusterTraits CollectTraits(const mesh::MeshSnapshot& snapshot, const model::Proxy& proxy);

// Clusters for the services that the proxy sees, their ports and subsets, in the scope's order. With
// `dns_srv`, those of a gateway that passes mutual TLS through: services of the mesh alone, and no TLS of its
// own.
std::vector<OutboundInputs> CollectOutbound(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope,
                                            const ClusterTraits& traits, bool dns_srv);

// Whom mutual TLS expects at a service: the identities of its endpoints and those that the service names, in
// every trust domain that is an alias of ours; sorted. `endpoints` are the service's, or null.
std::vector<std::string> IdentitiesOf(const mesh::MeshSnapshot& snapshot, const model::Service& service,
                                      const model::ServiceEndpoints* endpoints);

// Clusters for what the workload itself serves: its Sidecar's ingress listeners, else the ports that services
// lead to.
std::vector<InboundInputs> CollectInbound(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope,
                                          const ClusterTraits& traits);

// Clusters that every proxy of a kind has.
std::vector<FixedInputs> CollectFixed(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope,
                                      const ClusterTraits& traits);

// Whether a Gateway that selects the proxy has a server of mode AUTO_PASSTHROUGH.
bool PassesMutualTlsThrough(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope);

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_CLUSTER_COLLECT_H_
