#ifndef FAIRLEAD_GEN_CLUSTER_BUILD_H_
#define FAIRLEAD_GEN_CLUSTER_BUILD_H_

#include <optional>

#include "gen/cluster/inputs.h"

namespace envoy::config::cluster::v3 {
class Cluster;
}

// Pure: inputs become messages, ready to be patched or encoded.
namespace fairlead::gen {

// Nothing where the cluster would have to list endpoints and there are none.
std::optional<envoy::config::cluster::v3::Cluster> BuildOutbound(const OutboundInputs& inputs);
envoy::config::cluster::v3::Cluster BuildInbound(const InboundInputs& inputs);
envoy::config::cluster::v3::Cluster BuildFixed(const FixedInputs& inputs);

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_CLUSTER_BUILD_H_
