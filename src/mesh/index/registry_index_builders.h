#ifndef FAIRLEAD_MESH_INDEX_REGISTRY_INDEX_BUILDERS_H_
#define FAIRLEAD_MESH_INDEX_REGISTRY_INDEX_BUILDERS_H_

#include <memory>
#include <vector>

#include "base/sharded_map.h"
#include "mesh/index/snapshot.h"
#include "model/registry_output.h"
#include "model/settings.h"
#include "model/workload.h"

// The indexes that hold what the registries found as it is. Pure functions.
namespace fairlead::mesh {

class EndpointIndexBuilder {
 public:
  using Endpoints = ShardedMap<model::ServiceKey, model::ServiceEndpointsPtr>;
  static std::shared_ptr<const EndpointIndex> Build(const Endpoints& endpoints);
  // What `previous` becomes when the endpoints of the `changed` services are what they now are.
  static std::shared_ptr<const EndpointIndex> Update(const EndpointIndex& previous,
                                                     const Endpoints& endpoints,
                                                     const std::vector<model::ServiceKey>& changed);
};

class ExternalTargetIndexBuilder {
 public:
  static std::shared_ptr<const ExternalTargetIndex> Build(
      const ShardedMap<Interned, std::shared_ptr<const model::ExternalTargets>>& targets);
};

class WorkloadIndexBuilder {
 public:
  static std::shared_ptr<const WorkloadIndex> Build(
      const ShardedSet<std::shared_ptr<const model::WorkloadInstance>>& workloads);
  // What `previous` becomes by the changes.
  static std::shared_ptr<const WorkloadIndex> Update(const WorkloadIndex& previous,
                                                     const std::vector<model::WorkloadChange>& changes);
};

class NetworkIndexBuilder {
 public:
  // Adds the gateways that MeshNetworks gives by address to those that the registries found. `last` again
  // (may be null) where it has the same.
  static std::shared_ptr<const NetworkIndex> Build(std::vector<model::NetworkGateway> gateways,
                                                   const model::Settings& settings,
                                                   const std::shared_ptr<const NetworkIndex>& last);
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_REGISTRY_INDEX_BUILDERS_H_
