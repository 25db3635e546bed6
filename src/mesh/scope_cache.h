#ifndef FAIRLEAD_MESH_SCOPE_CACHE_H_
#define FAIRLEAD_MESH_SCOPE_CACHE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "config/diagnostic.h"
#include "config/object.h"
#include "mesh/scope_reads.h"
#include "mesh/service_variants.h"
#include "mesh/sidecar_scope.h"
#include "mesh/snapshot.h"

namespace fairlead::mesh {

// Warnings for Sidecars without workloadSelector that take no effect because their namespace has an older
// one. `sidecars` must be oldest first.
std::vector<config::Diagnostic> FindShadowedSidecars(const std::vector<config::ConfigPtr>& sidecars);

// The scopes of all snapshots that share what scopes are made from. Each is made when it is first asked for,
// once, by the thread that asks, unless all that it was made from in an earlier snapshot is still the same; a
// scope that comes out as it was before keeps its old pointer. Thread-safe.
class MeshSnapshot::ScopeCache {
 public:
  // With `shadow` every scope is made anew, and one that should be as it was and is not is reported: for
  // tests.
  explicit ScopeCache(bool shadow = false)
      : shadow_(shadow),
        variants_(std::make_shared<ServiceVariants>()),
        builds_(std::make_shared<std::atomic<uint64_t>>(0)) {}
  // For snapshots in which something changed that scopes are made from. `previous` stays usable.
  explicit ScopeCache(ScopeCache& previous);

  // `snapshot` must be one of those that share this cache. A null Sidecar stands for none; routers have none
  // either.
  SidecarScopePtr Get(const MeshSnapshot& snapshot, const config::ConfigPtr& sidecar, std::string_view ns,
                      bool for_router);
  // How many scopes were made so far, for this cache and those before it.
  uint64_t builds() const { return builds_->load(); }

 private:
  struct Key {
    config::ConfigPtr sidecar;
    std::string ns;
    bool for_router;
    friend bool operator==(const Key&, const Key&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Key& key) {
      return H::combine(std::move(h), key.sidecar, key.ns, key.for_router);
    }
  };
  struct Made {
    SidecarScopePtr scope;
    std::shared_ptr<const ScopeReads> reads;  // that it was made from
  };
  struct Entry {
    std::once_flag made;
    std::mutex mutex;  // of now
    Made now;          // null until it is made
    Made earlier;      // what it was in an earlier cache
    int unused = 0;    // for how many caches it was not asked for
  };
  // After so many caches an unused scope is forgotten.
  static constexpr int kKeepUnused = 8;

  std::shared_ptr<Entry> FindOrAdd(Key key);
  Made Make(const MeshSnapshot& snapshot, const config::ConfigPtr& sidecar, std::string_view ns,
            bool for_router, const Made& earlier);

  const bool shadow_;
  std::shared_ptr<ServiceVariants> variants_;
  std::shared_ptr<std::atomic<uint64_t>> builds_;
  std::mutex mutex_;
  absl::flat_hash_map<Key, std::shared_ptr<Entry>> entries_;
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_SCOPE_CACHE_H_
