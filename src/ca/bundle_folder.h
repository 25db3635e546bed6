#ifndef FAIRLEAD_CA_BUNDLE_FOLDER_H_
#define FAIRLEAD_CA_BUNDLE_FOLDER_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ca/bundle.h"

// Where an authority's key and certificates lie: in files of an operator, or in those that were made here.
namespace fairlead::ca {

// The texts of a plugged-in authority in `folder` (ROOT_CA_DIR): ca-cert.pem, ca-key.pem, root-cert.pem,
// cert-chain.pem and perhaps ca-crl.pem; or tls.crt, tls.key and ca.crt as in a secret of type
// kubernetes.io/tls, where these are there. Nothing where there is none of them; FailedPrecondition, naming
// the file, where some are missing; Unavailable where one cannot be read. Without `revocations` ca-crl.pem is
// not read. Source: Istio's detectSigningCABundle.
absl::StatusOr<std::optional<BundleTexts>> ReadPluggedIn(const std::string& folder, bool revocations = true);
// All files that it may read.
std::vector<std::string> FilesOfPluggedIn(const std::string& folder);

struct SelfSignedOptions {
  std::string folder;                                             // is made, with mode 0700
  std::string organization = "cluster.local";                     // of the root's subject: the trust domain
  std::chrono::seconds lifetime = std::chrono::hours(24 * 3650);  // CITADEL_SELF_SIGNED_CA_CERT_TTL
  int rsa_bits = 0;        // CITADEL_SELF_SIGNED_CA_RSA_KEY_SIZE; 0: ECDSA
  int grace_percent = 20;  // of the lifetime before its end, in which a new root is made
};

// A root with a new key, and a new root for a key that is there, of which the old one stays among the roots
// until its end. Nothing is kept. Source of the latter: Istio's SelfSignedCARootCertRotator.
absl::StatusOr<BundlePtr> MakeSelfSigned(const SelfSignedOptions& options, int64_t now);
absl::StatusOr<BundlePtr> RenewedRoot(const SelfSignedOptions& options, const Bundle& bundle, int64_t now);

// A root with its key, made at the first request and kept: ca-cert.pem, ca-key.pem and root-cert.pem with the
// roots to trust.
class SelfSignedFolder {
 public:
  explicit SelfSignedFolder(SelfSignedOptions options) : options_(std::move(options)) {}

  // Whether a root is kept there.
  bool HasRoot() const;
  // The kept bundle; a new one is made and kept if there is none. FailedPrecondition where others may read
  // the folder or the key; else as ReadBundle, or Unavailable where files cannot be read or written.
  absl::StatusOr<BundlePtr> Load(int64_t now) const;
  // Whether so little is left of the root's lifetime at `now` that Renew is due.
  bool Due(const Bundle& bundle, int64_t now) const;
  // RenewedRoot, kept: workloads with either root trust certificates under either.
  absl::StatusOr<BundlePtr> Renew(const Bundle& bundle, int64_t now) const;

 private:
  absl::StatusOr<BundlePtr> Make(int64_t now) const;
  absl::Status Keep(const Bundle& bundle, bool with_key) const;
  std::string Path(const char* name) const;

  const SelfSignedOptions options_;
};

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_BUNDLE_FOLDER_H_
