#ifndef FAIRLEAD_REDIRECT_RUN_H_
#define FAIRLEAD_REDIRECT_RUN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "redirect/options.h"
#include "redirect/program_call.h"

namespace fairlead::redirect {

// Rules, then addresses and routes, as the options say, in this thread's network namespace. The options are
// filled in and checked.
absl::Status Redirect(const RedirectOptions& options, const RunProgram& run);

// Whether all of its rules are there. NotFound says what is not.
absl::Status VerifyRedirect(const RedirectOptions& options, const RunProgram& run);

// The commands of Redirect, for people: programs with their input.
absl::StatusOr<std::string> DescribeRedirect(const RedirectOptions& options);

// `fairlead agent iptables …`. Gives the process's exit status: 0; 1 where rules cannot be applied; 2 for a
// wrong call; 126 where rules are there and do not work.
int RunIptables(const std::vector<std::string>& arguments);

}  // namespace fairlead::redirect

#endif  // FAIRLEAD_REDIRECT_RUN_H_
