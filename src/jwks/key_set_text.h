#ifndef FAIRLEAD_JWKS_KEY_SET_TEXT_H_
#define FAIRLEAD_JWKS_KEY_SET_TEXT_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// The answers of key servers, which nobody vouches for. Pure, thread-safe.
namespace fairlead::jwks {

// Whether a text is a JSON Web Key Set: an object with a list "keys" of objects (RFC 7517, section 5), in
// UTF-8. The keys themselves are the proxies' business. Another text must not reach proxies: whoever may read
// their configuration would read what the server can reach. InvalidArgument says what is wrong.
absl::Status CheckKeySet(std::string_view text);

// Whether two texts that CheckKeySet accepts hold the same keys, in any order.
bool SameKeys(std::string_view a, std::string_view b);

// Where an issuer says what it is: the issuer with the path that OpenID Connect Discovery appoints.
std::string DiscoveryUri(std::string_view issuer);
// Where the keys are, by the document that is found there; InvalidArgument where it does not say.
absl::StatusOr<std::string> KeySetUri(std::string_view document);

}  // namespace fairlead::jwks

#endif  // FAIRLEAD_JWKS_KEY_SET_TEXT_H_
