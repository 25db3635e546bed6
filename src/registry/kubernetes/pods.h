#ifndef FAIRLEAD_REGISTRY_KUBERNETES_PODS_H_
#define FAIRLEAD_REGISTRY_KUBERNETES_PODS_H_

#include <memory>
#include <vector>

#include "base/sharded_map.h"
#include "config/store.h"
#include "model/workload.h"
#include "registry/mesh_facts.h"
#include "registry/selectable.h"

namespace fairlead::registry {

using WorkloadInstancePtr = std::shared_ptr<const model::WorkloadInstance>;

// A pod with what the mesh makes of it.
struct PodRecord {
  config::ConfigPtr object;
  model::WorkloadPtr workload;
  WorkloadInstancePtr instance;  // null while the pod has no address
  SelectablePtr selectable;      // null unless the pod is ready and stays
};

// All pods of one cluster, by name, address and node. Part of the registries' state: used by the control loop
// alone.
class PodIndex {
 public:
  struct Change {
    PodRecord before, after;  // all null where there was or is no pod
  };
  // Takes the pod as it now is; null: gone. Node labels are read from the store.
  Change Update(const Name& name, const config::ConfigPtr& object, const config::ObjectStore& store,
                const MeshFacts& facts);

  const PodRecord* Find(const Name& name) const;
  // A ready pod of a namespace with an address; the first by name of several (host network). Null if none.
  const PodRecord* FindByAddress(const Interned& ns, const Interned& address) const;
  std::vector<Name> OnNode(const Interned& node) const;
  std::vector<Name> All() const;
  bool empty() const { return pods_.empty(); }

 private:
  void Unlink(const Name& name, const PodRecord& record);
  void Link(const Name& name, const PodRecord& record);

  ShardedMap<Name, PodRecord> pods_;
  ShardedMap<Interned, std::vector<Name>> ready_by_address_;
  ShardedMap<Interned, ShardedSet<Name, 16>> by_node_;
};

}  // namespace fairlead::registry

#endif  // FAIRLEAD_REGISTRY_KUBERNETES_PODS_H_
