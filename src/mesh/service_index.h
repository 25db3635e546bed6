#ifndef FAIRLEAD_MESH_SERVICE_INDEX_H_
#define FAIRLEAD_MESH_SERVICE_INDEX_H_

#include <memory>
#include <vector>

#include "mesh/snapshot.h"
#include "model/service.h"

namespace fairlead::mesh {

// Istio's order of services: older first, then name, then namespace (Istio: SortServicesByCreationTime); what
// that leaves open is settled by registry, hostname and address.
bool ServiceBefore(const model::ServicePtr& a, const model::ServicePtr& b);

class ServiceIndexBuilder {
 public:
  static std::shared_ptr<const ServiceIndex> Build(std::vector<model::ServicePtr> services);
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_SERVICE_INDEX_H_
