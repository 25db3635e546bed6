#ifndef FAIRLEAD_WASM_CREDENTIALS_H_
#define FAIRLEAD_WASM_CREDENTIALS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Who the agent says it is to a registry, and what a registry asks of it. Pure, thread-safe.
namespace fairlead::wasm {

struct Credentials {
  std::string user, password;
  std::string identity_token;  // to get tokens by, in place of a password
  std::string registry_token;  // to show as it is
  bool empty() const { return user.empty() && identity_token.empty() && registry_token.empty(); }
  // Of HTTP's Basic scheme (RFC 7617).
  std::string Basic() const;
};

// What a docker config.json (a secret of type kubernetes.io/dockerconfigjson) has for a registry; empty where
// that is nothing. InvalidArgument where it is none; the message has nothing of its content.
absl::StatusOr<Credentials> CredentialsFor(std::string_view docker_config, std::string_view registry);

// A challenge of a WWW-Authenticate header. Source: the distribution project's token authentication
// specification.
struct Challenge {
  bool bearer = false;  // else Basic
  std::string realm, service, scope;
};
// The Bearer challenge of the headers' values, else the Basic one; nothing where there is neither.
std::optional<Challenge> ParseChallenge(const std::vector<std::string>& values);

// Whether credentials may be shown at the place that a registry names for tokens: the registry itself, or a
// server of the web over TLS that is not in this machine's own network. `base`: the registry's own URL,
// without a path. PermissionDenied says why not.
absl::Status CheckRealm(std::string_view realm, std::string_view base);

}  // namespace fairlead::wasm

#endif  // FAIRLEAD_WASM_CREDENTIALS_H_
