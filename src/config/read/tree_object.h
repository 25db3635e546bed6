#ifndef FAIRLEAD_CONFIG_READ_TREE_OBJECT_H_
#define FAIRLEAD_CONFIG_READ_TREE_OBJECT_H_

#include "config/object.h"
#include "config/tree.h"

namespace fairlead::config {

// The spec of an object that is kept as a document tree (PayloadType::kTree); no node where it has none.
// REQUIRES: it is of such a kind. The object must outlive the node.
inline Node SpecOf(const ConfigObject& object) { return object.Spec<Tree>().Find("spec"); }

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_READ_TREE_OBJECT_H_
