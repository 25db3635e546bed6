#ifndef FAIRLEAD_REDIRECT_RULE_PROBE_H_
#define FAIRLEAD_REDIRECT_RULE_PROBE_H_

#include "absl/status/status.h"
#include "redirect/options.h"

namespace fairlead::redirect {

// Whether the rules work: listens on the proxy's two ports of loopback and connects, once a second, to the
// probe port of an address whose connections are redirected. OK when one arrives with its old destination.
// DeadlineExceeded after options.probe_timeout; Unavailable if neither port can be listened on. Blocks.
// Source: istio.io/latest/docs/setup/additional-setup/cni/#race-condition--mitigation
absl::Status ProbeRules(const RedirectOptions& options);

}  // namespace fairlead::redirect

#endif  // FAIRLEAD_REDIRECT_RULE_PROBE_H_
