#ifndef FAIRLEAD_AGENT_RELAY_TAP_H_
#define FAIRLEAD_AGENT_RELAY_TAP_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace fairlead::agent {

// A type of resources that the agent asks for on the proxy's streams and keeps for itself. It has one
// resource.
struct RelayTap {
  std::string type;  // the type URL
  // Takes the resource's bytes; an error refuses it. Called by one stream at a time or by several;
  // thread-safe.
  std::function<absl::Status(std::string resource)> take;
};

// The subscription to a tap's type, as an encoded request of that framing. Pure.
std::string TapRequest(const RelayTap& tap, bool delta);
// Gives a response's resource to its tap. The result is the encoded acknowledgement or refusal. A response
// without a resource changes nothing.
std::string TakeTapped(const RelayTap& tap, bool delta, std::string_view response);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_RELAY_TAP_H_
