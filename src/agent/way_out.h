#ifndef FAIRLEAD_AGENT_WAY_OUT_H_
#define FAIRLEAD_AGENT_WAY_OUT_H_

#include <string>
#include <string_view>

namespace fairlead::agent {

// The reason with which a control plane was not reached or refused something, and what its operator can do
// about it where that is known: "REASON; WAY OUT". Pure.
std::string WithWayOut(std::string_view reason);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_WAY_OUT_H_
