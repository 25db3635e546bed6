#ifndef FAIRLEAD_BASE_CIPHER_SUITE_H_
#define FAIRLEAD_BASE_CIPHER_SUITE_H_

#include <string_view>

namespace fairlead {

// Whether Envoy knows the name. What begins with neither letter nor digit is an expression such as "[A|B]",
// which is not looked into. Source: Istio's IsValidCipherSuite.
bool IsCipherSuite(std::string_view name);

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_CIPHER_SUITE_H_
