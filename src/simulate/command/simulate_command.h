#ifndef FAIRLEAD_SIMULATE_COMMAND_SIMULATE_COMMAND_H_
#define FAIRLEAD_SIMULATE_COMMAND_SIMULATE_COMMAND_H_

#include <string>
#include <vector>

#include "simulate/command/live_state.h"
#include "simulate/loaded_mesh.h"

namespace fairlead::simulate {

// `fairlead simulate --configDir DIR --proxy POD.NAMESPACE URL`: says where a request ends that a workload of
// the mesh sends or receives, and because of which objects. Gives the exit status: 0 it reaches an endpoint,
// 1 it does not, 2 a wrong call.
//
// `ask` is for --server, which adds what the proxies really run.
int RunSimulate(const std::vector<std::string>& arguments, const MeshLoader& load,
                const AskServer& ask = nullptr);

}  // namespace fairlead::simulate

#endif  // FAIRLEAD_SIMULATE_COMMAND_SIMULATE_COMMAND_H_
