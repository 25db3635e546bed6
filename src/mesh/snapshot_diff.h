#ifndef FAIRLEAD_MESH_SNAPSHOT_DIFF_H_
#define FAIRLEAD_MESH_SNAPSHOT_DIFF_H_

#include "absl/functional/function_ref.h"
#include "mesh/reads.h"
#include "mesh/snapshot.h"

namespace fairlead::mesh {

// Calls visit(question) once for every part that differs between two snapshots: for each question about the
// snapshot itself whose answer is another. Questions about parts within parts are not asked
// (kServiceEndpoints, kNamedService, kDestination, kEndpointTraits: see Wider). `before` may be null: then
// for every part that `after` has. Costs what differs: what the two share is not looked into.
void ForEachDifference(const MeshSnapshot* before, const MeshSnapshot& after,
                       absl::FunctionRef<void(const Question&)> visit);

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_SNAPSHOT_DIFF_H_
