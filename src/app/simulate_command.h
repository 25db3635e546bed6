#ifndef FAIRLEAD_APP_SIMULATE_COMMAND_H_
#define FAIRLEAD_APP_SIMULATE_COMMAND_H_

#include <string>
#include <vector>

namespace fairlead::app {

// `fairlead simulate --configDir DIR --proxy POD.NAMESPACE URL`: says where a request ends that a workload of
// the mesh sends or receives, and because of which objects. Gives the exit status: 0 it reaches an endpoint,
// 1 it does not, 2 a wrong call.
int RunSimulate(const std::vector<std::string>& arguments);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_SIMULATE_COMMAND_H_
