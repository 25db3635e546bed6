#ifndef FAIRLEAD_GEN_GRPC_COLLECT_H_
#define FAIRLEAD_GEN_GRPC_COLLECT_H_

#include <optional>
#include <string>
#include <vector>

#include "gen/generator.h"
#include "gen/grpc/inputs.h"
#include "gen/policy/traffic_policy.h"

// Reads the snapshot: what a gRPC client or server gets for the names that it asks for.
namespace fairlead::gen::grpc {

std::vector<ClientListenerInputs> CollectClientListeners(mesh::View& view, const Names* names);
std::vector<ServerListenerInputs> CollectServerListeners(mesh::View& view, const Names* names);

// Nothing where the client sees no such service, port or subset.
std::optional<ClusterInputs> CollectCluster(mesh::View& view, const std::string& name);

// The rule's settings for the cluster; mesh-wide defaults do not apply to gRPC clients.
EffectivePolicy PolicyOf(const ClusterInputs& inputs);

}  // namespace fairlead::gen::grpc

#endif  // FAIRLEAD_GEN_GRPC_COLLECT_H_
