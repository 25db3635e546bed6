#ifndef FAIRLEAD_PUSH_PUBLISH_PUBLICATION_H_
#define FAIRLEAD_PUSH_PUBLISH_PUBLICATION_H_

#include <functional>
#include <span>

#include "config/object.h"
#include "mesh/index/snapshot.h"
#include "push/stream/reason.h"
#include "state/mesh.h"

namespace fairlead::push {

// One publication of the live mesh, as its observers are told of it. Valid during the call.
struct Publication {
  const state::Mesh& mesh;                        // as it is now; may be copied
  const mesh::SnapshotPtr& snapshot;              // of the mesh; never null
  std::span<const config::ObjectChange> changes;  // of the objects that are written: what really changed
  const Reasons& reasons;
};

// Is told of each publication, on the loop's thread. It must not block: what takes long goes to a thread of
// its own.
using PublicationObserver = std::function<void(const Publication&)>;

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_PUBLISH_PUBLICATION_H_
