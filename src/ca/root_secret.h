#ifndef FAIRLEAD_CA_ROOT_SECRET_H_
#define FAIRLEAD_CA_ROOT_SECRET_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "ca/bundle.h"
#include "ca/bundle_folder.h"
#include "kube/api_request.h"

namespace fairlead::ca {

// Secrets of the control plane's namespace.
inline constexpr char kOwnSecret[] = "istio-ca-secret";  // with a root that a control plane made
inline constexpr char kPluggedInSecret[] = "cacerts";    // with an operator's authority

struct RootSecretOptions {
  // One request to the API server; blocks. Null: there is none.
  std::function<kube::ApiAnswer(kube::ApiRequest)> ask = nullptr;
  std::string ns = "istio-system";
  bool use_cacerts = false;  // a root of our own goes into `cacerts` (USE_CACERTS_FOR_SELF_SIGNED_CA)
  bool revocations = true;   // see KeeperOptions
  SelfSignedOptions self_signed = {};  // but for its folder
};

// The authority that all replicas of a control plane share: what an operator put into the Secret `cacerts`;
// else a root of our own in `istio-ca-secret`, which the first replica makes, and the others read. One thread
// at a time. Messages name Secrets and keys, never content.
// Source: Istio's NewSelfSignedIstioCAOptions, loadCACerts and SelfSignedCARootCertRotator.
class RootSecret {
 public:
  explicit RootSecret(RootSecretOptions options) : options_(std::move(options)) {}

  // As it is now; a root is made where there is none. FailedPrecondition where a Secret is no authority;
  // otherwise as ApiAnswer says.
  absl::StatusOr<BundlePtr> Load(int64_t now);
  // The same later. A Secret with our own root that is gone is made again with that root; another one that is
  // gone is NotFound.
  absl::StatusOr<BundlePtr> Reload(const Bundle& known, int64_t now);
  // A new root for the kept key, where nobody else made one meanwhile; the old one stays among the roots
  // until its end.
  absl::StatusOr<BundlePtr> Renew(const Bundle& known, int64_t now);
  // "Secret istio-system/istio-ca-secret", after Load.
  std::string Place() const;

 private:
  struct Read {
    BundlePtr bundle;  // null: there is no such Secret
    std::string version;
  };
  absl::StatusOr<Read> ReadSecret(const std::string& name, int64_t now) const;
  absl::Status Create(const Bundle& bundle) const;
  std::string Path(const std::string& name) const;

  const RootSecretOptions options_;
  std::string name_;  // of the Secret that counts
};

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_ROOT_SECRET_H_
