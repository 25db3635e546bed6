#ifndef FAIRLEAD_GEN_SECRET_BUILD_H_
#define FAIRLEAD_GEN_SECRET_BUILD_H_

#include "absl/status/status.h"
#include "gen/secret/inputs.h"

namespace envoy::extensions::transport_sockets::tls::v3 {
class Secret;
}

namespace fairlead::gen::secret {

// A certificate with its key, or roots with their revocation list. NotFound, saying why and no content, where
// the object does not hold what is asked for. Pure. Source: Istio's toEnvoyTLSSecret, toEnvoyCaSecret.
absl::Status Build(const SecretInputs& inputs, envoy::extensions::transport_sockets::tls::v3::Secret* out);

}  // namespace fairlead::gen::secret

#endif  // FAIRLEAD_GEN_SECRET_BUILD_H_
