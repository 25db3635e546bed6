#ifndef FAIRLEAD_STATE_MESH_OBJECTS_H_
#define FAIRLEAD_STATE_MESH_OBJECTS_H_

#include <span>
#include <vector>

#include "base/sorted_map.h"
#include "config/diagnostic.h"
#include "config/object.h"
#include "config/store.h"

namespace fairlead::state {

// The objects of a mesh. An object that is read again with the same content stays the object that it was, so
// that nothing is made anew; its place, which may be another file or line by now, is kept beside it. A value:
// copies share what they have in common. Copies may be used by different threads.
class MeshObjects {
 public:
  // The objects as sources handed them over.
  const config::ObjectStore& written() const { return written_; }
  // With those that were made of them.
  const config::ObjectStore& all() const { return all_; }

  // The functions below give objects at their places of today, for people.
  // Null where there is none.
  config::ConfigPtr Find(const config::ObjectKey& key) const;
  // The same; of an object that was made of a route or the like, that one.
  config::ConfigPtr FindWritten(const config::ObjectKey& key) const;
  // Those of the control plane's own cluster that are written, by kind, namespace and name.
  std::vector<config::ConfigPtr> Written() const;
  // With the file and line where the object of the diagnostic begins today.
  config::Diagnostic Placed(config::Diagnostic diagnostic) const;

 private:
  friend class Mesh;
  // Returns the changes of content. `moved`: whether places changed beside them.
  std::vector<config::ObjectChange> Write(std::span<const config::ObjectChange> changes, bool* moved);

  config::ObjectStore written_, all_;
  SortedMap<config::ObjectKey, config::ConfigPtr>
      moved_;  // written, as read last; where the place is another
};

}  // namespace fairlead::state

#endif  // FAIRLEAD_STATE_MESH_OBJECTS_H_
