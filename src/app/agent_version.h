#ifndef FAIRLEAD_APP_AGENT_VERSION_H_
#define FAIRLEAD_APP_AGENT_VERSION_H_

#include <string>
#include <vector>

namespace fairlead::app {

// `fairlead agent version`: the version of Istio's agent that this one stands in for, in that agent's forms
// ("", "-o json", "-o yaml", "-s"). Gives the process's exit status.
int RunAgentVersion(const std::vector<std::string>& arguments);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_AGENT_VERSION_H_
