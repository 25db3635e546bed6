#ifndef FAIRLEAD_MESH_INDEX_WORKLOAD_INDEX_H_
#define FAIRLEAD_MESH_INDEX_WORKLOAD_INDEX_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/sharded_map.h"
#include "base/strings.h"
#include "mesh/index/name_pair.h"
#include "model/workload.h"

namespace fairlead::mesh {

// Pods and workload entries. Successors share the parts in which nothing changed.
class WorkloadIndex {
 public:
  using Workload = std::shared_ptr<const model::WorkloadInstance>;
  using List = std::vector<Workload>;
  using Sharing = std::shared_ptr<const List>;  // an address
  using ByName = ShardedMap<std::string, Sharing, StringViewHash, StringViewEqual>;

  // A pod or workload entry; pods before entries, pods of the host network last. Null if there is none.
  const model::WorkloadInstance* FindByAddress(std::string_view ip) const;
  // Of the control plane's own cluster.
  const model::WorkloadInstance* FindPod(std::string_view ns, std::string_view name) const;
  // What the answers for an address, or for a pod, depend on; null where there is none.
  Sharing At(std::string_view ip) const;
  Workload Pod(std::string_view place, std::string_view name) const;
  // Where a pod is: its namespace, and behind that its cluster (see config::ObjectMeta) where that is another
  // than the control plane's own.
  static Interned PlaceOf(const Interned& ns, const Interned& cluster);
  // Of those with one address the workload entries, by namespace and name, or the pods, those of the host
  // network last. `sharing` may be null.
  static std::vector<const model::WorkloadInstance*> EntriesOf(const List* sharing);
  static std::vector<const model::WorkloadInstance*> PodsOf(const List* sharing);
  // What At and Pod have, for comparing.
  const ByName& by_address() const { return by_address_; }
  const NamePairMap<Workload>& pods() const { return pods_; }

 private:
  friend class WorkloadIndexBuilder;
  ByName by_address_;
  NamePairMap<Workload> pods_;  // by (place, name)
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_WORKLOAD_INDEX_H_
