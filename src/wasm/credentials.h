#ifndef FAIRLEAD_WASM_CREDENTIALS_H_
#define FAIRLEAD_WASM_CREDENTIALS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// The agent's credentials for a registry, and the challenge of a registry. Pure, thread-safe.
namespace fairlead::wasm {

struct RegistryCredentials {
  std::string user, password;
  std::string identity_token;  // to get tokens by, in place of a password
  std::string registry_token;  // to show as it is
  bool empty() const { return user.empty() && identity_token.empty() && registry_token.empty(); }
  // The value for HTTP's Basic scheme (RFC 7617).
  std::string Basic() const;
};

// The credentials for a registry in a docker config.json (a secret of type kubernetes.io/dockerconfigjson);
// empty if it has none. InvalidArgument where it is none; the message has nothing of its content.
absl::StatusOr<RegistryCredentials> CredentialsFor(std::string_view docker_config, std::string_view registry);

// A challenge of a WWW-Authenticate header. Source: the distribution project's token authentication
// specification.
struct Challenge {
  bool bearer = false;  // else Basic
  std::string realm, service, scope;
};
// The Bearer challenge of the headers' values, else the Basic one; nothing where there is neither.
std::optional<Challenge> ParseChallenge(const std::vector<std::string>& values);

// Whether the token server of a registry may get credentials. It must be the registry itself, or a public web
// server over TLS outside of this machine's own network. `base`: the registry's own URL, without a path.
// PermissionDenied says why not.
absl::Status CheckRealm(std::string_view realm, std::string_view base);

}  // namespace fairlead::wasm

#endif  // FAIRLEAD_WASM_CREDENTIALS_H_
