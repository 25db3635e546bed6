#ifndef FAIRLEAD_SOURCE_CLUSTER_KIND_COPY_H_
#define FAIRLEAD_SOURCE_CLUSTER_KIND_COPY_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "config/diagnostic.h"
#include "config/kind.h"
#include "config/object.h"
#include "config/read/stored_object.h"
#include "kube/list_watch.h"

namespace fairlead::source {

// The objects of one kind that an API server has, as its list and its watch tell them. An object that cannot
// be read keeps its last good version, with a diagnostic. One thread at a time.
class KindCopy : public kube::ListWatch::Receiver {
 public:
  // `deny_lost`: a policy that cannot be read and has no earlier version denies all requests meanwhile.
  // `revision`: objects with the label istio.io/rev of another one are not there; "": all are.
  KindCopy(const config::KindInfo& kind, Interned cluster, bool deny_lost, std::string revision = "")
      : kind_(kind), cluster_(std::move(cluster)), deny_lost_(deny_lost), revision_(std::move(revision)) {}

  // "networking.istio.io/v1": what the objects come in from now on.
  void SetApiVersion(std::string api_version) { api_version_ = std::move(api_version); }
  const config::KindInfo& kind() const { return kind_; }

  void OnListBegin() override { ++list_; }
  void OnObject(config::Node object) override;
  void OnListEnd() override;
  void OnGone(config::Node object) override;
  // The server has no such kind any more.
  void Clear();

  // What changed since the last call; an object that says the same is no change.
  std::vector<config::ObjectChange> TakeChanges() { return std::exchange(changes_, {}); }
  // Rises whenever AddDiagnostics may say something else.
  uint64_t diagnostics_revision() const { return diagnostics_revision_; }
  void AddDiagnostics(std::vector<config::Diagnostic>* diagnostics) const;
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    config::ConfigPtr object;  // the last good version; null: none
    config::ConfigPtr denial;  // in place of a policy that cannot be read; else null
    uint64_t list = 0;         // that had it last
  };
  bool IsOfOtherRevision(config::Node object) const;
  bool IsLock(config::Node object) const;
  void Put(Entry& entry, config::StoredObject stored);
  void Deny(Entry& entry, config::ConfigPtr denial);
  void Drop(const config::ObjectKey& key, Entry& entry);
  void SetDiagnostics(const config::ObjectKey& key, std::vector<config::Diagnostic> diagnostics);

  const config::KindInfo& kind_;
  const Interned cluster_;
  const bool deny_lost_;
  const std::string revision_;
  std::string api_version_;
  absl::flat_hash_map<config::ObjectKey, Entry> entries_;
  uint64_t list_ = 0;
  std::vector<config::ObjectChange> changes_;
  std::map<config::ObjectKey, std::vector<config::Diagnostic>> diagnostics_;
  uint64_t diagnostics_revision_ = 0;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_CLUSTER_KIND_COPY_H_
