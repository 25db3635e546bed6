#ifndef FAIRLEAD_INJECTION_IP_PREFIX_H_
#define FAIRLEAD_INJECTION_IP_PREFIX_H_

#include <string_view>

#include "absl/status/status.h"

namespace fairlead::injection {

// Whether a text is a range of IP addresses, as Go's netip.ParsePrefix; InvalidArgument with its text. Pure.
absl::Status CheckIpPrefix(std::string_view text);

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_IP_PREFIX_H_
