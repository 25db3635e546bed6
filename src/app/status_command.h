#ifndef FAIRLEAD_APP_STATUS_COMMAND_H_
#define FAIRLEAD_APP_STATUS_COMMAND_H_

#include <string>
#include <vector>

namespace fairlead::app {

// `fairlead status -f FOLDER [--meshConfig FILE] [-o json]`: prints the status of every Gateway API object,
// Ingress and ServiceEntry of a folder of manifests, as Istio's control plane would write it. Gives the exit
// status: 0, or 2 for a wrong call.
int RunStatus(const std::vector<std::string>& arguments);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_STATUS_COMMAND_H_
