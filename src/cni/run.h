#ifndef FAIRLEAD_CNI_RUN_H_
#define FAIRLEAD_CNI_RUN_H_

#include <string>
#include <vector>

namespace fairlead::cni {

// `fairlead cni`: without a word the plugin, called by a container runtime; "install" and "repair" run on
// each node until SIGTERM. Gives the process's exit status.
int RunCni(const std::vector<std::string>& arguments);

}  // namespace fairlead::cni

#endif  // FAIRLEAD_CNI_RUN_H_
