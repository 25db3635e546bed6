#ifndef FAIRLEAD_REGISTRY_SERVICEENTRY_REGISTRY_H_
#define FAIRLEAD_REGISTRY_SERVICEENTRY_REGISTRY_H_

#include <memory>
#include <set>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "base/sharded_map.h"
#include "config/diagnostic.h"
#include "model/registry_output.h"
#include "registry/mesh_facts.h"
#include "registry/selectable.h"
#include "registry/service_table.h"

namespace fairlead::registry {

// ServiceEntries and their endpoints: written into them, selected, or the host itself. Endpoints are joined
// by host and namespace, whichever entries they come from. Part of the registries' state: used by the mesh
// thread alone.
class ServiceEntryRegistry {
 public:
  using Dirty = absl::flat_hash_set<model::ServiceKey>;  // hosts whose endpoints may have changed

  // The entry as it now is (null: gone). `problems` gets what of it is of no use.
  void SetEntry(const Name& name, const config::ConfigPtr& object, const MeshFacts& facts,
                ServiceTable* services, Dirty* dirty, std::vector<config::Diagnostic>* problems);
  // A pod or WorkloadEntry with these labels came, went or changed.
  void MarkSelecting(const Interned& ns, const LabelMap& labels, Dirty* dirty) const;

  bool Has(const model::ServiceKey& key) const { return entries_by_host_.contains(key); }
  // What the entries for a host and namespace say together, older entries first, and who serves it.
  struct Shard {
    model::EndpointShard endpoints;
    std::vector<std::pair<Interned, model::ExternalTarget>> targets;  // by address
  };
  Shard BuildShard(const model::ServiceKey& key, const SelectableIndex& workloads,
                   const ServiceTable& services, const MeshFacts& facts) const;
  std::vector<Name> All() const;

 private:
  struct Entry {
    config::ConfigPtr object;
    std::vector<SelectablePtr> inline_endpoints;
    model::WorkloadPtr host_workload;  // of hosts that are their own endpoint
    std::set<Interned> hosts;
  };
  std::vector<SelectablePtr> SelectFor(const Entry& entry, const Interned& host,
                                       const SelectableIndex& workloads,
                                       const model::Features& features) const;
  void Link(const Name& name, const Entry& entry, Dirty* dirty);
  void Unlink(const Name& name, const Entry& entry, Dirty* dirty);

  ShardedMap<Name, std::shared_ptr<const Entry>> entries_;
  ShardedMap<model::ServiceKey, std::set<Name>> entries_by_host_;
  ShardedMap<Interned, std::set<Name>> selecting_by_namespace_;
};

}  // namespace fairlead::registry

#endif  // FAIRLEAD_REGISTRY_SERVICEENTRY_REGISTRY_H_
