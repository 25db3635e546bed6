#ifndef FAIRLEAD_GEN_PATCH_POOL_H_
#define FAIRLEAD_GEN_PATCH_POOL_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "cache/byte_cache.h"
#include "gen/patch/patch.h"
#include "mesh/view/view.h"

namespace fairlead::gen::patch {

// The patches of each client. Reads every EnvoyFilter once; equal sets are one object, so that Inputs may
// compare them by pointer. A generator has a pool of its own. Thread-safe.
class PatchPool {
 public:
  explicit PatchPool(Stage stage) : stage_(stage) {}

  // The client's patches for one side: EnvoyFilters of the root namespace and its own that select it and
  // match its version and metadata. The order is priority, then root namespace first, then age. Null where it
  // has none. Source: Istio's PushContext.EnvoyFilters.
  PatchSetPtr Collect(mesh::View& view, Side side);

  // The patches of the set that may concern a message; null if there are none. Other messages are made and
  // shared as if there were no patches. `set` may be null. Additions of whole listeners and clusters concern
  // no message.
  PatchSetPtr ForListener(const PatchSetPtr& set, std::string_view name, uint32_t port);
  // The patches that may concern one of the clusters of a service.
  PatchSetPtr ForService(const PatchSetPtr& set, std::string_view host);
  // `hosts`: the services behind an inbound cluster, whose name does not say them.
  PatchSetPtr ForCluster(const PatchSetPtr& set, std::string_view name,
                         const std::vector<std::string_view>& hosts = {});

  void Sweep(Clock::time_point now) {
    read_.Sweep(now);
    sets_.Sweep(now);
  }

 private:
  struct SetKey {
    Side side;
    PatchList patches;
    friend bool operator==(const SetKey&, const SetKey&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const SetKey& key) {
      return H::combine(std::move(h), key.side, key.patches);
    }
  };
  struct ReadObject {
    PatchList patches;
  };

  bool Concerns(const Patch& patch, Side side) const;
  PatchSetPtr Intern(Side side, PatchList patches);
  template <typename Keep>
  PatchSetPtr Narrowed(const PatchSetPtr& set, Keep&& keep);

  const Stage stage_;
  cache::ByteCache<config::ConfigPtr, ReadObject> read_;
  cache::ByteCache<SetKey, PatchSet> sets_;
};

// The last result, with its inputs and patches.
template <typename Inputs>
struct Patched {
  Inputs inputs;
  PatchSetPtr patches;  // never null
  friend bool operator==(const Patched&, const Patched&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Patched& p) {
    return H::combine(std::move(h), p.inputs, p.patches);
  }
};

}  // namespace fairlead::gen::patch

#endif  // FAIRLEAD_GEN_PATCH_POOL_H_
