#ifndef FAIRLEAD_GEN_SECURITY_UNKNOWN_KEYS_H_
#define FAIRLEAD_GEN_SECURITY_UNKNOWN_KEYS_H_

#include <string>

namespace fairlead::gen::security {

// A JSON Web Key Set that no token can be verified with: proxies have it while the real keys are not known,
// so that every token is refused. Its one key is an RSA key whose private half was thrown away when it was
// made; the same bytes as istiod's, so that a proxy sees no difference. Source: Istio's PublicOnlyJwks.
const std::string& UnknownKeys();

}  // namespace fairlead::gen::security

#endif  // FAIRLEAD_GEN_SECURITY_UNKNOWN_KEYS_H_
