#ifndef FAIRLEAD_GEN_SECURITY_UNKNOWN_KEYS_H_
#define FAIRLEAD_GEN_SECURITY_UNKNOWN_KEYS_H_

#include <string>

namespace fairlead::gen::security {

// A JSON Web Key Set that verifies no token. Proxies have it while the real keys are unknown, so that every
// token is refused. Its one key is an RSA key without a private half: that was thrown away. The bytes equal
// istiod's, so that a proxy sees no difference. Source: Istio's PublicOnlyJwks.
const std::string& UnknownKeys();

}  // namespace fairlead::gen::security

#endif  // FAIRLEAD_GEN_SECURITY_UNKNOWN_KEYS_H_
