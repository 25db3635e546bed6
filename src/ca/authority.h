#ifndef FAIRLEAD_CA_AUTHORITY_H_
#define FAIRLEAD_CA_AUTHORITY_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ca/bundle.h"
#include "ca/signer.h"

namespace fairlead::ca {

using UnixClock = std::function<int64_t()>;  // seconds
int64_t UnixNow();

struct AuthorityOptions {
  std::chrono::seconds default_lifetime = std::chrono::hours(24);   // DEFAULT_WORKLOAD_CERT_TTL
  std::chrono::seconds max_lifetime = std::chrono::hours(24 * 90);  // MAX_WORKLOAD_CERT_TTL
  UnixClock now = UnixNow;
};

// A certificate with its key, for a listener of this process.
struct KeyAndChain {
  std::string key;    // PEM
  std::string chain;  // PEM, the certificate first
  int64_t not_after = 0;
};

// The authority of this process. Thread-safe; what it signs with may be replaced at any time.
class Authority : public Signer {
 public:
  explicit Authority(AuthorityOptions options) : options_(std::move(options)) {}

  // From now on. Tells those who follow, on the calling thread.
  void Replace(const BundlePtr& bundle);
  BundlePtr bundle() const;  // null before the first
  void Follow(std::function<void(const BundlePtr&)> follower);

  // A certificate never outlives the one that signs it, and begins two minutes ago, for clocks that are
  // behind.
  Signed Sign(const SignRequest& request) override;
  // A new key and a certificate for these names, whatever the bounds of workloads' lifetimes are.
  absl::StatusOr<KeyAndChain> MakeKeyAndChain(const std::vector<std::string>& names,
                                              std::chrono::seconds lifetime) const;

 private:
  // The certificates of a bundle, as they go into each answer.
  struct Pems {
    std::vector<std::string> chain;
    std::string roots;
  };
  absl::StatusOr<CertificatePtr> IssueFor(const Bundle& bundle, const KeyPtr& public_key,
                                          const std::vector<std::string>& names, bool common_name,
                                          std::chrono::seconds lifetime) const;

  const AuthorityOptions options_;
  mutable std::mutex mutex_;
  BundlePtr bundle_;                                              // guarded by mutex_
  std::shared_ptr<const Pems> pems_;                              // of bundle_; guarded by mutex_
  std::vector<std::function<void(const BundlePtr&)>> followers_;  // guarded by mutex_
};

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_AUTHORITY_H_
