#ifndef FAIRLEAD_REDIRECT_IPTABLES_APPLY_H_
#define FAIRLEAD_REDIRECT_IPTABLES_APPLY_H_

#include "absl/status/status.h"
#include "redirect/iptables_rules.h"
#include "redirect/options.h"
#include "redirect/program_call.h"

namespace fairlead::redirect {

// Puts the rules of the options into this network namespace. Nothing is changed if they are there already,
// unless options.force; other rules of an earlier call are an error or, with options.reconcile, replaced.
// With options.clean_up they are only taken away. Each table changes as a whole or not at all. Unavailable
// names the program that failed, with its words.
absl::Status ApplyIptables(const RedirectOptions& options, const RunProgram& run);

// Whether all rules of the options are in this namespace, by whatever variant. NotFound names the first that
// is not.
absl::Status VerifyIptables(const RedirectOptions& options, const RunProgram& run);

}  // namespace fairlead::redirect

#endif  // FAIRLEAD_REDIRECT_IPTABLES_APPLY_H_
