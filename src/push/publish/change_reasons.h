#ifndef FAIRLEAD_PUSH_PUBLISH_CHANGE_REASONS_H_
#define FAIRLEAD_PUSH_PUBLISH_CHANGE_REASONS_H_

#include <span>

#include "config/object.h"
#include "mesh/index/snapshot.h"
#include "push/stream/reason.h"

namespace fairlead::push {

// Adds why the mesh is published again: by the objects that changed, and by what differs between the
// snapshots before (null: there was none) and now.
void AddReasons(std::span<const config::ObjectChange> changes, const mesh::MeshSnapshot* before,
                const mesh::MeshSnapshot& now, Reasons* reasons);

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_PUBLISH_CHANGE_REASONS_H_
