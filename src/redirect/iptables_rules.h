#ifndef FAIRLEAD_REDIRECT_IPTABLES_RULES_H_
#define FAIRLEAD_REDIRECT_IPTABLES_RULES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "redirect/options.h"

namespace fairlead::redirect {

using Words = std::vector<std::string>;

struct IptablesRule {
  std::string table, chain;
  int position = 0;  // from 1 on: inserted there; 0: appended
  Words words;       // "-p tcp -j RETURN"

  friend bool operator==(const IptablesRule&, const IptablesRule&) = default;
};

// The rules of each IP version, in the order in which they are made.
struct IptablesRules {
  std::vector<IptablesRule> v4, v6;  // v6 is empty without IPv6
};

// A pure function; options are filled in and checked. InvalidArgument names a wrong range.
absl::StatusOr<IptablesRules> MakeIptablesRules(const RedirectOptions& options);

}  // namespace fairlead::redirect

#endif  // FAIRLEAD_REDIRECT_IPTABLES_RULES_H_
