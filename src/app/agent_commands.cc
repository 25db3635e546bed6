#include "app/agent_commands.h"

#include <string_view>

#include "agent/run.h"
#include "app/agent_version.h"
#include "app/proxy_calls.h"
#include "redirect/run.h"

namespace fairlead::app {
namespace {

using Arguments = std::vector<std::string>;

struct AgentCommand {
  std::string_view name;
  int (*run)(const Arguments&);
};

constexpr AgentCommand kAgentCommands[] = {
    {"iptables", redirect::RunIptables},
    {"istio-iptables", redirect::RunIptables},
    {"request", RunRequest},
    {"version", RunAgentVersion},
    {"wait", RunWait},
};

}  // namespace

int RunAgentCommand(const Arguments& arguments) {
  for (const AgentCommand& command : kAgentCommands) {
    if (!arguments.empty() && arguments.front() == command.name)
      return command.run(Arguments(arguments.begin() + 1, arguments.end()));
  }
  return agent::RunAgent(arguments);
}

}  // namespace fairlead::app
