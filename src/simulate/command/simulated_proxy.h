#ifndef FAIRLEAD_SIMULATE_COMMAND_SIMULATED_PROXY_H_
#define FAIRLEAD_SIMULATE_COMMAND_SIMULATED_PROXY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/proxy.h"
#include "simulate/loaded_mesh.h"

namespace fairlead::simulate {

// The proxy of a simulation; either `name` is set.
struct ProxyChoice {
  std::string name;                 // "POD.NAMESPACE", "GATEWAY.NAMESPACE", or a node id: type~ip~id~domain
  std::string file;                 // a node as a bootstrap has it, YAML or JSON
  std::vector<std::string> labels;  // "key=value", for a workload that the mesh does not know
};

// The proxy as in its first request. A Pod or WorkloadEntry has the sidecar that injection gives it; a
// gateway's pod has its router; a Gateway stands for its first pod. NotFound where the mesh has no such
// workload, InvalidArgument where a node cannot be read.
absl::StatusOr<model::ProxyPtr> ChooseProxy(const LoadedMesh& mesh, const ProxyChoice& choice);

}  // namespace fairlead::simulate

#endif  // FAIRLEAD_SIMULATE_COMMAND_SIMULATED_PROXY_H_
