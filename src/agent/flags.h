#ifndef FAIRLEAD_AGENT_FLAGS_H_
#define FAIRLEAD_AGENT_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/options.h"

namespace fairlead::agent {

// Reads the command line into the options. Flags that nobody knows are passed over with a remark, as
// pilot-agent passes over them. InvalidArgument names the flag whose value cannot be read, or the role that
// is none. kUnavailable with the text: help was asked for.
absl::Status ReadFlags(const std::vector<std::string>& arguments, Options* options);

// The help's text: forms of the command, flags, variables.
std::string AgentUsage();

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_FLAGS_H_
