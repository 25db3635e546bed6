#ifndef FAIRLEAD_AGENT_WAY_OUT_H_
#define FAIRLEAD_AGENT_WAY_OUT_H_

#include <string>
#include <string_view>

namespace fairlead::agent {

// The reason of a failed or refused call to a control plane, with the operator's remedy if it is known:
// "REASON; WAY OUT". Pure.
std::string WithWayOut(std::string_view reason);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_WAY_OUT_H_
