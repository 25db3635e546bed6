#ifndef FAIRLEAD_MESH_INDEX_BY_NAMESPACE_H_
#define FAIRLEAD_MESH_INDEX_BY_NAMESPACE_H_

#include "base/interned.h"
#include "base/sharded_map.h"
#include "base/strings.h"

namespace fairlead::mesh {

// What an index has of each namespace, by its name. A part is null where there is nothing, and keeps its
// pointer from snapshot to snapshot while its content stays.
template <typename Part>
using ByNamespace = ShardedMap<Interned, Part, StringViewHash, StringViewEqual, 64>;

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_BY_NAMESPACE_H_
