#ifndef FAIRLEAD_CA_TOKEN_H_
#define FAIRLEAD_CA_TOKEN_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ca/caller.h"
#include "ca/key.h"

// Tokens of service accounts: JSON Web Tokens (RFC 7519) with a signature (RFC 7515).
namespace fairlead::ca {

// A key by which an issuer's tokens are verified.
struct TokenKey {
  std::string id;         // "kid"; "": none
  std::string algorithm;  // "alg", the only one that it is for; "": any of its kind
  KeyPtr key;             // RSA, EC or Ed25519, public
};
using TokenKeys = std::vector<TokenKey>;
using TokenKeysPtr = std::shared_ptr<const TokenKeys>;

// A JSON Web Key Set (RFC 7517), or public keys or certificates in PEM. Keys that are not for signatures or
// of an unknown kind are passed over. InvalidArgument where it is neither, has no key, or is larger than 1
// MiB.
absl::StatusOr<TokenKeys> ReadTokenKeys(std::string_view text);

// The claims of a token, after its verification.
struct TokenClaims {
  std::string issuer, subject;
  std::vector<std::string> audiences;
  int64_t expires = 0;                                  // Unix seconds
  std::string ns, service_account, pod, pod_uid, node;  // "kubernetes.io"; "": not said
};

// Unauthenticated, with the reason, unless one of the keys signed the token with an algorithm of its own
// kind. The token must be valid at `now`: "exp" is required, "nbf" may be a minute ahead. Tokens beyond 16
// KiB are not read.
absl::StatusOr<TokenClaims> VerifyToken(std::string_view token, const TokenKeys& keys, int64_t now);

struct TokenOptions {
  std::string issuer;                  // TOKEN_ISSUER
  std::vector<std::string> audiences;  // AUDIENCE; one of them is required
  // The keys as they are now; null: none are known. `unknown` says that no key fitted.
  std::function<TokenKeysPtr(bool unknown)> keys;
  std::function<int64_t()> now;
};

// Whether a text can be the namespace or the name in an account's SPIFFE id: names of Kubernetes.
bool IsAccountPart(std::string_view text);

// By "authorization: Bearer …": a token of the issuer for one of the audiences, whose subject is
// "system:serviceaccount:NAMESPACE:ACCOUNT". Source: Istio's JwtAuthenticator.
std::unique_ptr<Authenticator> NewTokenAuthenticator(TokenOptions options, TrustDomains trust_domains);

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_TOKEN_H_
