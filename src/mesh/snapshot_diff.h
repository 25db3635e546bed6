#ifndef FAIRLEAD_MESH_SNAPSHOT_DIFF_H_
#define FAIRLEAD_MESH_SNAPSHOT_DIFF_H_

#include <cstdint>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "config/kind.h"
#include "mesh/snapshot.h"

namespace fairlead::mesh {

// What a snapshot is made of, for comparison: one part is one answer that a reader can have had.
enum class SnapshotPart : uint8_t {
  kSettings,
  kServices,             // of a namespace: ServiceIndex::Namespace
  kServicesOfHost,       // `name` is the host: ServiceIndex::Host
  kAllServices,          // anything of the ServiceIndex
  kEndpoints,            // of a namespace: EndpointIndex::Namespace
  kVirtualServices,      // that live in a namespace: VirtualServiceIndex::OfMeshIn
  kVirtualServicesSeen,  // anything of the VirtualServiceIndex
  kDestinationRules,     // of a namespace: DestinationRuleIndex::Namespace
  kPeerAuthentications,  // of all namespaces; `ns` is ""
  kObjects,              // of `kind` in a namespace: ObjectIndex::In
  kNetworks,
  kWorkload,  // `name` is an address: what WorkloadIndex has there
  kPod,       // `ns` and `name` are the pod's
  kExternalTargets,
};

struct ChangedPart {
  SnapshotPart part;
  config::Kind kind{};      // of kObjects
  std::string_view ns{};    // "" where the part belongs to the whole mesh
  std::string_view name{};  // of kServicesOfHost, kWorkload, kPod
};

// Calls visit(part) once for every part that differs between two snapshots. `before` may be null: then for
// every part that `after` has. Costs what differs: what the two share is not looked into. The views in a part
// are good during the call.
void ForEachDifference(const MeshSnapshot* before, const MeshSnapshot& after,
                       absl::FunctionRef<void(const ChangedPart&)> visit);

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_SNAPSHOT_DIFF_H_
