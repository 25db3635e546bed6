#ifndef FAIRLEAD_REDIRECT_COMMAND_LINE_H_
#define FAIRLEAD_REDIRECT_COMMAND_LINE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/log_output.h"
#include "redirect/options.h"

namespace fairlead::redirect {

using Variables = std::map<std::string, std::string, std::less<>>;

// A call of `fairlead agent iptables`.
struct RedirectCall {
  RedirectOptions options;
  std::string proxy_user = "istio-proxy";  // ENVOY_USER
  bool help = false;
  std::string log_level = "default:info", log_callers;
  LogOutput log;
  std::vector<std::string> remarks;  // on what was read and has no effect
};

// Flags as istio-iptables and its library read them: "--name value", "--name=value", "-p 15001", "-p15001", a
// switch without a value or "--dry-run=false". A flag's variable is its name in upper case with "_"; flags
// win. A variable with a wrong value is remarked upon and has no effect, but a switch is off then, as there;
// a flag with one is InvalidArgument. Source: pkg.go.dev/github.com/spf13/pflag
absl::StatusOr<RedirectCall> ReadCall(const std::vector<std::string>& arguments, const Variables& variables);

// For people: all flags and variables with their meaning.
std::string IptablesUsage();

}  // namespace fairlead::redirect

#endif  // FAIRLEAD_REDIRECT_COMMAND_LINE_H_
