#ifndef FAIRLEAD_CA_TOKEN_ISSUER_H_
#define FAIRLEAD_CA_TOKEN_ISSUER_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ca/key.h"

// An issuer of service accounts' tokens of our own, where there is no cluster that has one: for tests and
// small fleets. JSON Web Tokens (RFC 7519), signed with ES256 (RFC 7518, 3.4).
namespace fairlead::ca {

// Its name in tokens ("iss").
inline constexpr std::string_view kOwnIssuer = "fairlead";
// Beyond it a token would outlive whoever has it.
inline constexpr std::chrono::hours kLongestToken{24 * 366};

// The file of the key that verifies its tokens, in the folder of its keys: a public key in PEM.
std::string IssuerKeyFile(std::string_view folder);

// The private key in `folder`, with the file of the public one beside it. If it is missing, folder (mode
// 0700) and key (0600) are made. FailedPrecondition: others than the owner may read the folder or the key.
// Unavailable: files cannot be read or written. InvalidArgument: a file is no key.
absl::StatusOr<KeyPtr> LoadIssuerKey(const std::string& folder);

struct TokenRequest {
  std::string issuer{kOwnIssuer};
  std::string ns, service_account;  // names of Kubernetes
  std::vector<std::string> audiences = {"istio-ca"};
  std::chrono::seconds lifetime = std::chrono::hours(24);  // more than 0, at most kLongestToken
};
// InvalidArgument names what of the request cannot be. `now`: Unix seconds.
absl::StatusOr<std::string> MakeToken(const KeyPtr& key, const TokenRequest& request, int64_t now);

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_TOKEN_ISSUER_H_
