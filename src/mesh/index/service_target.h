#ifndef FAIRLEAD_MESH_INDEX_SERVICE_TARGET_H_
#define FAIRLEAD_MESH_INDEX_SERVICE_TARGET_H_

#include <cstdint>

#include "model/service.h"

namespace fairlead::mesh {

// A service that the proxy's own workload serves: one entry for each of its ports (Istio: ServiceTarget).
struct ServiceTarget {
  model::ServicePtr service;
  const model::ServicePort* port = nullptr;  // of `service`
  uint32_t target_port = 0;                  // where the workload listens
  friend bool operator==(const ServiceTarget&, const ServiceTarget&) = default;
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_SERVICE_TARGET_H_
