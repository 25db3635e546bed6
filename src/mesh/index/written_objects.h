#ifndef FAIRLEAD_MESH_INDEX_WRITTEN_OBJECTS_H_
#define FAIRLEAD_MESH_INDEX_WRITTEN_OBJECTS_H_

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "base/interned.h"
#include "config/kind.h"
#include "config/object.h"
#include "config/store.h"

namespace fairlead::mesh {

// The objects as sources handed them over, without what was made of them; those of each cluster apart.
// Immutable; what is there of a kind in a cluster is shared by all between two changes of that.
class WrittenObjects {
 public:
  using OfKind = std::shared_ptr<const config::ObjectStore::ByName>;
  using Clusters = std::shared_ptr<const std::vector<Interned>>;

  // What a store holds; what it held before these changes was `before`, which may be null.
  WrittenObjects(const WrittenObjects* before, const config::ObjectStore& store,
                 std::span<const config::ObjectChange> changes);
  WrittenObjects() = default;

  // By namespace and name; "" is the control plane's own cluster. Null: none was ever there, or of another
  // cluster: none is there.
  OfKind All(config::Kind kind, const Interned& cluster = {}) const;
  // The other clusters with objects, in order. Null: none ever had.
  const Clusters& clusters() const { return clusters_; }
  // Calls visit(kind, cluster) where the other one has other objects.
  void ForEachDifference(const WrittenObjects& other,
                         absl::FunctionRef<void(config::Kind, const Interned&)> visit) const;

 private:
  using Others = std::map<std::pair<Interned, config::Kind>, OfKind>;  // none is empty

  std::array<OfKind, config::KindCount()> own_;
  std::shared_ptr<const Others> others_;  // null: none
  Clusters clusters_;
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_WRITTEN_OBJECTS_H_
