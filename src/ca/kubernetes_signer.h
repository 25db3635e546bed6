#ifndef FAIRLEAD_CA_KUBERNETES_SIGNER_H_
#define FAIRLEAD_CA_KUBERNETES_SIGNER_H_

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ca/authority.h"
#include "ca/certificate.h"
#include "ca/signer.h"
#include "ca/signing_request.h"
#include "kube/api_request.h"

namespace fairlead::ca {

struct KubernetesSignerOptions {
  // One request to the API server; blocks.
  std::function<kube::ApiAnswer(kube::ApiRequest)> ask;
  std::string signer;      // of requests that name none (K8S_SIGNER)
  std::string domain;      // of those that name one: DOMAIN/NAME (CERT_SIGNER_DOMAIN); "": none may
  std::string roots_file;  // what workloads are to trust; "": what `roots_of` says
  // The MeshConfig's roots of a signer, PEM; "": none. Thread-safe.
  std::function<std::string(const std::string& signer)> roots_of;
  std::chrono::seconds default_lifetime = std::chrono::hours(24);
  std::chrono::seconds max_lifetime = std::chrono::hours(24 * 90);
  std::chrono::milliseconds patience{9'000};                   // for the signer
  std::chrono::milliseconds first_pause{30}, most_pause{500};  // between looks at the request
  UnixClock now = UnixNow;
};

// Signers of the cluster, for which it registers: a CertificateSigningRequest for each certificate is made,
// approved, waited for and deleted. Such a signer signs the names of the request itself, so it must have
// those of the caller and nothing else. What comes back is believed as CheckGiven says. The roots are those
// of the file; else of the MeshConfig's caCertificates with that signer; else a root that ends the given
// chain. Thread-safe. Source: Istio's KubernetesRA and chiron.SignCSRK8s.
class KubernetesSigner : public Signer {
 public:
  explicit KubernetesSigner(KubernetesSignerOptions options) : options_(std::move(options)) {}

  // InvalidArgument where the options cannot be.
  absl::Status Check() const;
  Signed Sign(const SignRequest& request) override;

 private:
  absl::StatusOr<std::string> SignerOf(const SignRequest& request) const;
  absl::StatusOr<std::string> Obtain(const SignRequest& request, const std::string& signer) const;
  absl::Status Approve(nlohmann::json object, const std::string& path, const SignRequest& request) const;
  absl::StatusOr<std::string> Wait(const std::string& path, const std::string& name,
                                   const std::string& signer) const;
  absl::StatusOr<Certificates> RootsOf(const std::string& signer, const Certificates& given) const;

  const KubernetesSignerOptions options_;
};

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_KUBERNETES_SIGNER_H_
