#ifndef FAIRLEAD_GEN_OBJECT_OBJECT_SOURCE_H_
#define FAIRLEAD_GEN_OBJECT_OBJECT_SOURCE_H_

#include <cstdint>
#include <vector>

#include "config/object.h"

namespace fairlead::gen {

// The objects of the mesh as they are: what is newer than a snapshot is, too. Snapshots do not hold them, as
// few clients ask for objects and many objects change. Thread-safe.
class ObjectSource {
 public:
  virtual ~ObjectSource() = default;
  // All of a kind, by namespace and name.
  virtual std::vector<config::ConfigPtr> ObjectsOf(config::Kind kind) const = 0;
  // Rises whenever one of them comes, changes or goes.
  virtual uint64_t RevisionOf(config::Kind kind) const = 0;
};

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_OBJECT_OBJECT_SOURCE_H_
