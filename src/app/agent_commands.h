#ifndef FAIRLEAD_APP_AGENT_COMMANDS_H_
#define FAIRLEAD_APP_AGENT_COMMANDS_H_

#include <string>
#include <vector>

namespace fairlead::app {

// `fairlead agent …`: the commands beside the node agent itself, by the names that pilot-agent gives them,
// too; everything else is the agent's. Gives the process's exit status.
int RunAgentCommand(const std::vector<std::string>& arguments);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_AGENT_COMMANDS_H_
