#ifndef FAIRLEAD_MESH_SERVICE_INDEX_H_
#define FAIRLEAD_MESH_SERVICE_INDEX_H_

#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "base/interned.h"
#include "mesh/snapshot.h"
#include "mesh/sorted_list.h"
#include "model/service.h"

namespace fairlead::mesh {

// Istio's order of services: older first, then name, then namespace (Istio: SortServicesByCreationTime); what
// that leaves open is settled by registry, hostname and address.
bool ServiceBefore(const model::ServicePtr& a, const model::ServicePtr& b);

// Makes ServiceIndexes. Finds out by itself which services are new or gone, and shares the rest with the last
// index. Owned by the mesh thread.
class ServiceIndexBuilder {
 public:
  // `services`: in any order; quickest where those that stay are mostly where they were. The same index again
  // where they are the same.
  std::shared_ptr<const ServiceIndex> Build(const std::vector<model::ServicePtr>& services);
  // The namespaces whose services the last Build changed, in no order.
  const std::vector<Interned>& changed_namespaces() const { return changed_namespaces_; }

 private:
  using Change = ListChange<model::ServicePtr>;
  Change TakeChange(const std::vector<model::ServicePtr>& services);
  static void ChangeVisible(const Change& change, ServiceIndex* index);
  static void ChangeNamespace(const Interned& ns, const Change& change, ServiceIndex* index);
  // From now on `service` counts for a host in `ns`; null: none does.
  static void SetHost(const Interned& host, const Interned& ns, const model::ServicePtr& service,
                      ServiceIndex* index);

  std::vector<model::ServicePtr> known_;  // as Build had them last
  std::shared_ptr<const ServiceIndex> last_;
  std::vector<Interned> changed_namespaces_;
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_SERVICE_INDEX_H_
