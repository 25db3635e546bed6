#ifndef FAIRLEAD_MODEL_KEY_SETS_H_
#define FAIRLEAD_MODEL_KEY_SETS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "base/interned.h"

namespace fairlead::model {

// Where the keys are that an issuer signs its tokens with (RequestAuthentication without inline keys).
struct KeySource {
  Interned uri;     // of a JSON Web Key Set (RFC 7517), jwksUri
  Interned issuer;  // where there is no uri: OpenID discovery says it

  friend bool operator==(const KeySource&, const KeySource&) = default;
  friend bool operator<(const KeySource& a, const KeySource& b) {
    return std::tie(a.uri.str(), a.issuer.str()) < std::tie(b.uri.str(), b.issuer.str());
  }
};

// Of a rule that has no keys of its own.
inline KeySource KeySourceOf(std::string_view uri, std::string_view issuer) {
  return uri.empty() ? KeySource{{}, issuer} : KeySource{uri, {}};
}

// Who has the keys of a URI, in the mesh's terms.
struct KeyServer {
  std::string host;  // without brackets
  uint32_t port = 0;
};

// nullopt: the URI is neither of http nor https. Source: Istio's ParseJwksURI.
std::optional<KeyServer> KeyServerOf(std::string_view uri);

// A JSON Web Key Set as its server gave it. A set that is fetched again and says the same keeps its pointer.
using KeySetPtr = std::shared_ptr<const std::string>;

// The key sets that are known. Immutable.
using KeySets = std::map<KeySource, KeySetPtr>;
using KeySetsPtr = std::shared_ptr<const KeySets>;  // null: none

}  // namespace fairlead::model

#endif  // FAIRLEAD_MODEL_KEY_SETS_H_
