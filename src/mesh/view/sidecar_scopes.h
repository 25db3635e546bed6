#ifndef FAIRLEAD_MESH_VIEW_SIDECAR_SCOPES_H_
#define FAIRLEAD_MESH_VIEW_SIDECAR_SCOPES_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/labels.h"
#include "cache/recorded.h"
#include "config/diagnostic.h"
#include "config/object.h"
#include "mesh/index/service_variants.h"
#include "mesh/view/reads.h"
#include "mesh/view/sidecar_scope.h"

namespace fairlead::mesh {

class View;

// Warnings for Sidecars without workloadSelector that take no effect because their namespace has an older
// one. `sidecars` must be oldest first.
std::vector<config::Diagnostic> FindShadowedSidecars(const std::vector<config::ConfigPtr>& sidecars);

// The scopes of a mesh and of all meshes that came of it. Each is made when it is first asked for, by the
// thread that asks; one whose imports come out as they were before keeps them. Thread-safe.
class SidecarScopes {
 public:
  using Result = cache::Recorded<SidecarScope, Reads>;

  // The scope of workloads of `ns` that `sidecar` (null: none) is for. Routers see everything visible in
  // their namespace, whatever Sidecars say.
  Result Get(const World& world, const config::ConfigPtr& sidecar, const Interned& ns, bool for_router);
  // How many scopes were made so far.
  uint64_t builds() const { return builds_.load(); }
  // How many scopes are kept.
  size_t size() const { return cache_.size(); }
  // Forgets what nobody holds or asked for lately. To be called every few seconds.
  void Sweep(Clock::time_point now);

 private:
  struct Key {
    config::ConfigPtr sidecar;
    Interned ns;
    bool for_router;
    friend bool operator==(const Key&, const Key&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Key& key) {
      return H::combine(std::move(h), key.sidecar, key.ns, key.for_router);
    }
  };

  ServiceVariants variants_;
  std::atomic<uint64_t> builds_{0};
  cache::RecordedCache<Key, SidecarScope, Reads> cache_;
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_VIEW_SIDECAR_SCOPES_H_
