#ifndef FAIRLEAD_CONFIG_STORE_H_
#define FAIRLEAD_CONFIG_STORE_H_

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/sorted_map.h"
#include "config/object.h"

namespace fairlead::config {

// All objects of a mesh as they are now, by cluster, kind, namespace and name. What is asked without naming a
// cluster is asked of the control plane's own (see ObjectMeta::cluster). A value: a copy costs little, shares
// what it has in common with the original, and is changed apart from it. Not thread-safe; the objects
// themselves are immutable and may be shared with any thread.
class ObjectStore {
 public:
  using ByName = SortedMap<std::pair<Interned, Interned>, ConfigPtr>;  // (namespace, name), by content

  // Applies a batch; returns the changes that changed something (same pointer or equal content hash: no
  // change).
  std::vector<ObjectChange> Apply(std::span<const ObjectChange> changes);

  const ByName& All(Kind kind) const { return own_[static_cast<size_t>(kind)]; }
  const ByName& All(Kind kind, const Interned& cluster) const;
  // Null where there is none.
  ConfigPtr Find(Kind kind, const Interned& ns, const Interned& name, const Interned& cluster = {}) const;
  ConfigPtr Find(const ObjectKey& key) const { return Find(key.kind, key.ns, key.name, key.cluster); }
  // The clusters besides the own one that have objects here, in order.
  std::vector<Interned> OtherClusters() const;
  size_t size() const;  // in all clusters
  // Rises whenever an object of the kind was added, changed or removed in the own cluster: equal revisions
  // mean equal content there.
  uint64_t Revision(Kind kind) const { return revisions_[static_cast<size_t>(kind)]; }

 private:
  using Kinds = std::array<ByName, KindCount()>;

  Kinds own_;
  std::map<Interned, Kinds> others_;  // by cluster; none is empty
  std::array<uint64_t, KindCount()> revisions_{};
};

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_STORE_H_
