#ifndef FAIRLEAD_REDIRECT_IPTABLES_VARIANT_H_
#define FAIRLEAD_REDIRECT_IPTABLES_VARIANT_H_

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "redirect/iptables_rules.h"
#include "redirect/program_call.h"

namespace fairlead::redirect {

// One of the sets of programs named iptables: for the kernel's older tables, for nftables, or the system's
// choice of these.
struct IptablesVariant {
  std::string binary;  // "ip6tables-nft"; with -save and -restore appended there are two more
  std::array<int, 3> version{};
  bool legacy = false;     // not for nftables
  bool has_rules = false;  // had tables before it was tried

  // "--wait=30" where two at a time need a lock; empty otherwise.
  Words Wait() const;
  // Whether the lock is the file that XTABLES_LOCKFILE names.
  bool HasLockVariable() const { return version >= std::array{1, 8, 6}; }
};

// The variant to use, as istio-iptables chooses: `forced` ("legacy" or "nft") if it is given; else the legacy
// one if it has tables, then that for nftables, then the system's choice. Each is tried by a rule that never
// matches, which is taken back. Unavailable says why there is none.
// Source: Istio, tools/istio-iptables/pkg/dependencies
absl::StatusOr<IptablesVariant> FindVariant(const RunProgram& run, bool ipv6, std::string_view forced);

// All variants that work and have tables; for readers.
std::vector<IptablesVariant> UsedVariants(const RunProgram& run, bool ipv6);

}  // namespace fairlead::redirect

#endif  // FAIRLEAD_REDIRECT_IPTABLES_VARIANT_H_
