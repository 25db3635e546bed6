#ifndef FAIRLEAD_AGENT_NOTICE_H_
#define FAIRLEAD_AGENT_NOTICE_H_

#include <string_view>

namespace fairlead::agent {

// A line to the agent's standard error, for whoever started it: "fairlead agent: TEXT". It is lost where
// nobody takes it. Thread-safe.
void Say(std::string_view text);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_NOTICE_H_
