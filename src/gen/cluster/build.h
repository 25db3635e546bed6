#ifndef FAIRLEAD_GEN_CLUSTER_BUILD_H_
#define FAIRLEAD_GEN_CLUSTER_BUILD_H_

#include <optional>

#include "gen/cluster/inputs.h"

namespace envoy::config::cluster::v3 {
class Cluster;
}
namespace istio::networking::v1alpha3 {
class LoadBalancerSettings;
}

// Pure: inputs become messages, ready to be patched or encoded.
namespace fairlead::gen {

// Nothing where the cluster would have to list endpoints and there are none.
std::optional<envoy::config::cluster::v3::Cluster> BuildOutbound(const OutboundClusterInputs& inputs);
// With inputs for UDP, datagrams go unchanged, without TLS, PROXY protocol or subsets.
std::optional<envoy::config::cluster::v3::Cluster> BuildUdpOutbound(const OutboundClusterInputs& inputs);
envoy::config::cluster::v3::Cluster BuildInbound(const InboundClusterInputs& inputs);
envoy::config::cluster::v3::Cluster BuildFixed(const FixedInputs& inputs);

// Parts of clusters that are the same for Envoys and for gRPC clients.
// The ring or table of a policy with consistent hashing.
void SetConsistentHash(const istio::networking::v1alpha3::LoadBalancerSettings& settings,
                       envoy::config::cluster::v3::Cluster* cluster);
// A service with sticky sessions keeps sending a client to its endpoint while that drains.
void KeepDraining(envoy::config::cluster::v3::Cluster* cluster);

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_CLUSTER_BUILD_H_
