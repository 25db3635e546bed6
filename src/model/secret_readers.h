#ifndef FAIRLEAD_MODEL_SECRET_READERS_H_
#define FAIRLEAD_MODEL_SECRET_READERS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "base/interned.h"

namespace fairlead::model {

// A service account of a cluster.
struct ClusterAccount {
  Interned cluster;  // "": the control plane's own
  Interned account;  // "namespace/name"

  friend bool operator==(const ClusterAccount&, const ClusterAccount&) = default;
  friend bool operator<(const ClusterAccount& a, const ClusterAccount& b) {
    return std::tie(a.cluster.str(), a.account.str()) < std::tie(b.cluster.str(), b.account.str());
  }
};

// Asks API servers whether accounts may list the Secrets of their namespaces. Thread-safe.
class SecretReviewer {
 public:
  virtual ~SecretReviewer() = default;
  // The verdict will be among those of SecretReaders. Does not block.
  virtual void Want(const ClusterAccount& account) const = 0;
};
using SecretReviewerPtr = std::shared_ptr<const SecretReviewer>;

enum class SecretAccess : uint8_t { kUnknown, kDenied, kAllowed };

// What API servers said of accounts so far. Immutable.
struct SecretReaders {
  SecretReviewerPtr reviewer;  // not null
  std::map<ClusterAccount, SecretAccess> verdicts;
};
using SecretReadersPtr = std::shared_ptr<const SecretReaders>;  // null: there is no API server to ask

}  // namespace fairlead::model

#endif  // FAIRLEAD_MODEL_SECRET_READERS_H_
