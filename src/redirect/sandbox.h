#ifndef FAIRLEAD_REDIRECT_SANDBOX_H_
#define FAIRLEAD_REDIRECT_SANDBOX_H_

#include <string>

#include "absl/status/status.h"

namespace fairlead::redirect {

// Gives this thread a mount namespace of its own, in which iptables asks no name service for users (these may
// ask the network, which a new pod's namespace does not have) and locks no other process of the node out:
// its lock is the file `lock`, where that is not "". To be called once, in the thread that starts the
// programs; the network namespace stays. Unavailable with the reason; the thread is then as it was, or has a
// mount namespace without these.
absl::Status EnterSandbox(const std::string& lock);

}  // namespace fairlead::redirect

#endif  // FAIRLEAD_REDIRECT_SANDBOX_H_
