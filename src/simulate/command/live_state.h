#ifndef FAIRLEAD_SIMULATE_COMMAND_LIVE_STATE_H_
#define FAIRLEAD_SIMULATE_COMMAND_LIVE_STATE_H_

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace fairlead::simulate {

// Gives the body of a page of a server; blocks. No answer, or another than 200, is an error.
using AskServer = std::function<absl::StatusOr<std::string>(const std::string& url)>;

// The answers of a running control plane about connected proxies, "POD.NAMESPACE": their older resources with
// time and reason, and policies not in force there. Each answer is a sentence; a proxy that runs all sent
// resources has none. A simulation is about what they were sent. `server`: where its pages are, without
// /debug.
absl::StatusOr<std::vector<std::string>> LiveState(const std::string& server,
                                                   const std::set<std::string>& proxies,
                                                   const AskServer& ask);

}  // namespace fairlead::simulate

#endif  // FAIRLEAD_SIMULATE_COMMAND_LIVE_STATE_H_
