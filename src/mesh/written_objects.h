#ifndef FAIRLEAD_MESH_WRITTEN_OBJECTS_H_
#define FAIRLEAD_MESH_WRITTEN_OBJECTS_H_

#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include "config/kind.h"
#include "config/object.h"
#include "config/store.h"

namespace fairlead::mesh {

// The objects of the control plane's own cluster as sources handed them over, without what was made of them.
// Immutable; what is there of a kind is shared by all between two changes of the kind.
class WrittenObjects {
 public:
  using OfKind = std::shared_ptr<const config::ObjectStore::ByName>;

  // What a store holds; what it held before these changes was `before`, which may be null.
  WrittenObjects(const WrittenObjects* before, const config::ObjectStore& store,
                 std::span<const config::ObjectChange> changes) {
    if (before != nullptr) kinds_ = before->kinds_;
    std::array<bool, config::KindCount()> changed{};
    for (const config::ObjectChange& change : changes) {
      if (change.key.cluster.empty()) changed[static_cast<size_t>(change.key.kind)] = true;
    }
    for (size_t i = 0; i < kinds_.size(); ++i) {
      if (changed[i]) {
        kinds_[i] =
            std::make_shared<const config::ObjectStore::ByName>(store.All(static_cast<config::Kind>(i)));
      }
    }
  }
  WrittenObjects() = default;

  // By namespace and name. Null: none was ever there.
  const OfKind& All(config::Kind kind) const { return kinds_[static_cast<size_t>(kind)]; }

 private:
  std::array<OfKind, config::KindCount()> kinds_;
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_WRITTEN_OBJECTS_H_
