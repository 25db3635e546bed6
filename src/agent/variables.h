#ifndef FAIRLEAD_AGENT_VARIABLES_H_
#define FAIRLEAD_AGENT_VARIABLES_H_

#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "agent/options.h"

namespace fairlead::agent {

// A variable that pilot-agent or this agent reads. `meaning` begins with kIdleVariable where nothing is done,
// with the reason; the agent says so where it is set to another value than `fallback`.
inline constexpr std::string_view kIdleVariable = "without meaning here: ";
struct AgentVariable {
  std::string_view name;
  std::string_view fallback;  // what counts without it; "": nothing
  std::string_view meaning;
};
// By name. Source: Istio 1.32, the variables that pilot-agent's packages register.
std::span<const AgentVariable> AgentVariables();

// Reads the environment into the options, but for node metadata and PROXY_CONFIG. InvalidArgument names the
// variable of certificates or modules that cannot be read; other variables then have their default, with a
// remark.
absl::Status ReadVariables(const Environment& environment, Options* options);

// The same of those that are about certificates and modules, once the control plane's address is known.
absl::Status ReadSecurityVariables(const Environment& environment, Options* options);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_VARIABLES_H_
