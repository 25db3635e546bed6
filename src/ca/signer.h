#ifndef FAIRLEAD_CA_SIGNER_H_
#define FAIRLEAD_CA_SIGNER_H_

#include <chrono>
#include <string>
#include <vector>

#include "absl/status/status.h"

// The signer of workloads' certificates: an authority of this process, or an external one for which it
// registers.
namespace fairlead::ca {

struct SignRequest {
  std::string csr;  // PEM, as the caller sent it: not checked yet
  std::vector<std::string>
      identities;  // that the certificate is for: proven by the caller, whatever the CSR says
  std::chrono::seconds lifetime{0};  // zero or less: the signer's default
  std::string signer = {};           // that the caller wants, where there are several; "": the default
};

struct Signed {
  // kUnavailable: not ready. kCsr, kLifetime: the caller's mistake. kFailed: the signer's.
  enum class Error { kNone, kUnavailable, kCsr, kLifetime, kFailed };
  Error error = Error::kNone;
  std::string message;             // why, for the caller: no secrets
  std::vector<std::string> chain;  // PEM, one each: the certificate, then what leads to a root
  std::string roots;               // PEM, all of them
};

// Thread-safe. A signer outside of this process implements Sign by asking it. It may block, but must end
// within the caller's patience (10 s). It must give certificates for `identities` and nothing else. It must
// not sign a request without its own key's signature (ReadSigningRequest).
class Signer {
 public:
  virtual ~Signer() = default;
  virtual Signed Sign(const SignRequest& request) = 0;
};

// "CSR_ERROR": how metrics label it. Source: Istio's pki/error.
std::string_view LabelOf(Signed::Error error);
absl::StatusCode CodeOf(Signed::Error error);

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_SIGNER_H_
