#ifndef FAIRLEAD_GEN_SECRET_KEY_PAIR_H_
#define FAIRLEAD_GEN_SECRET_KEY_PAIR_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// The pair in the data of a Secret or a ConfigMap, by the keys that Istio knows. Pure. Views are of the data.
namespace fairlead::gen::secret {

using Data = std::map<std::string, std::string>;

struct KeyPair {
  std::string_view certificate, key;  // PEM
  std::string_view staple;            // OCSP, DER; "": none
};

struct Roots {
  std::string_view certificates;  // PEM
  std::string_view crl;           // PEM; "": none
};

// "cert" and "key", else "tls.crt" and "tls.key" (with "tls.ocsp-staple"). NotFound, naming the keys that are
// there or empty, and no content.
absl::StatusOr<KeyPair> FindKeyPair(const Data& data);
// "cacert" (with "crl"), else "ca.crt" (with "ca.crl"). NotFound likewise.
absl::StatusOr<Roots> FindRoots(const Data& data);

// The problem of a PEM certificate: it cannot be read, or is not valid at `now` (Unix seconds).
absl::Status CheckCertificate(std::string_view pem, int64_t now);

}  // namespace fairlead::gen::secret

#endif  // FAIRLEAD_GEN_SECRET_KEY_PAIR_H_
