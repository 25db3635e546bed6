#ifndef FAIRLEAD_MESH_INDEX_SERVICE_INDEX_BUILDER_H_
#define FAIRLEAD_MESH_INDEX_SERVICE_INDEX_BUILDER_H_

#include <memory>
#include <vector>

#include "base/interned.h"
#include "base/sharded_map.h"
#include "mesh/index/snapshot.h"
#include "mesh/index/sorted_list.h"
#include "model/registry_output.h"
#include "model/service.h"

namespace fairlead::mesh {

// Istio's order of services: older first, then name, then namespace (Istio: SortServicesByCreationTime); what
// that leaves open is settled by registry, hostname, address and the name of the object.
bool ServiceBefore(const model::ServicePtr& a, const model::ServicePtr& b);

// Makes ServiceIndexes. Pure functions.
class ServiceIndexBuilder {
 public:
  static std::shared_ptr<const ServiceIndex> Build(const ShardedSet<model::ServicePtr>& services);
  // What `previous` becomes by the changes.
  static std::shared_ptr<const ServiceIndex> Update(const ServiceIndex& previous,
                                                    const std::vector<model::ServiceChange>& changes);

 private:
  using Change = ListChange<model::ServicePtr>;
  static std::shared_ptr<const ServiceIndex> Apply(const ServiceIndex& previous, const Change& change);
  static void ChangeVisible(const Change& change, ServiceIndex* index);
  static void ChangeNamespace(const Interned& ns, const Change& change, ServiceIndex* index);
  // From now on `service` counts for a host in `ns`; null: none does.
  static void SetHost(const Interned& host, const Interned& ns, const model::ServicePtr& service,
                      ServiceIndex* index);
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_SERVICE_INDEX_BUILDER_H_
