#ifndef FAIRLEAD_CONFIG_STORE_H_
#define FAIRLEAD_CONFIG_STORE_H_

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/sorted_map.h"
#include "config/object.h"

namespace fairlead::config {

// All objects of a mesh as they are now, by kind, namespace and name. A value: a copy costs little, shares
// what it has in common with the original, and is changed apart from it. Not thread-safe; the objects
// themselves are immutable and may be shared with any thread.
class ObjectStore {
 public:
  using ByName = SortedMap<std::pair<Interned, Interned>, ConfigPtr>;  // (namespace, name), by content

  // Applies a batch; returns the changes that changed something (same pointer or equal content hash: no
  // change).
  std::vector<ObjectChange> Apply(std::span<const ObjectChange> changes);

  const ByName& All(Kind kind) const { return objects_[static_cast<size_t>(kind)]; }
  // Null where there is none.
  ConfigPtr Find(Kind kind, const Interned& ns, const Interned& name) const;
  size_t size() const;
  // Rises whenever an object of the kind was added, changed or removed: equal revisions mean equal content.
  uint64_t Revision(Kind kind) const { return revisions_[static_cast<size_t>(kind)]; }

 private:
  std::array<ByName, KindCount()> objects_;
  std::array<uint64_t, KindCount()> revisions_{};
};

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_STORE_H_
