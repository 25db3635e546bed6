#ifndef FAIRLEAD_CONFIG_CIPHER_SUITE_H_
#define FAIRLEAD_CONFIG_CIPHER_SUITE_H_

#include <string_view>

namespace fairlead::config {

// Whether Envoy knows the name. What begins with neither letter nor digit is an expression such as "[A|B]",
// which is not looked into. Source: Istio's IsValidCipherSuite.
bool IsCipherSuite(std::string_view name);

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_CIPHER_SUITE_H_
