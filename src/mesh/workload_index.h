#ifndef FAIRLEAD_MESH_WORKLOAD_INDEX_H_
#define FAIRLEAD_MESH_WORKLOAD_INDEX_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/sharded_map.h"
#include "base/strings.h"
#include "mesh/name_pair.h"
#include "model/workload.h"

namespace fairlead::mesh {

class SnapshotDifference;  // snapshot_diff.cc

// Pods and workload entries. Successors share the parts in which nothing changed.
class WorkloadIndex {
 public:
  using Workload = std::shared_ptr<const model::WorkloadInstance>;

  // A pod or workload entry; pods before entries, pods of the host network last. Null if there is none.
  const model::WorkloadInstance* FindByAddress(std::string_view ip) const;
  // Of the control plane's own cluster.
  const model::WorkloadInstance* FindPod(std::string_view ns, std::string_view name) const;
  // What the answers for an address, or for a pod, depend on; null where there is none.
  std::shared_ptr<const std::vector<Workload>> At(std::string_view ip) const;
  Workload Pod(std::string_view place, std::string_view name) const;
  // Where a pod is: its namespace, and behind that its cluster (see config::ObjectMeta) where that is another
  // than the control plane's own.
  static Interned PlaceOf(const Interned& ns, const Interned& cluster);
  // The workload entries with an address, by namespace and name.
  std::vector<const model::WorkloadInstance*> EntriesByAddress(std::string_view ip) const;
  // The pods with an address, those of the host network last.
  std::vector<const model::WorkloadInstance*> PodsByAddress(std::string_view ip) const;

 private:
  friend class WorkloadIndexBuilder;
  friend class SnapshotDifference;
  std::vector<const model::WorkloadInstance*> ByAddress(std::string_view ip, bool pods) const;
  using Sharing = std::shared_ptr<const std::vector<Workload>>;
  ShardedMap<std::string, Sharing, StringViewHash, StringViewEqual> by_address_;
  NamePairMap<Workload> pods_;  // by (place, name)
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_WORKLOAD_INDEX_H_
