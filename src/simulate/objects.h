#ifndef FAIRLEAD_SIMULATE_OBJECTS_H_
#define FAIRLEAD_SIMULATE_OBJECTS_H_

#include <vector>

#include "config/object.h"
#include "envoy/config/core/v3/base.pb.h"
#include "mesh/index/snapshot.h"
#include "mesh/view/proxy_scope.h"
#include "simulate/outcome.h"
#include "simulate/request.h"

// The objects of the mesh that decided.
namespace fairlead::simulate {

// The object that a resource's metadata names (filter_metadata.istio.config), if any.
void AddObjects(const envoy::config::core::v3::Metadata& metadata, SimulationOutcome* outcome);

// The objects that resources do not name: services behind destinations, the Sidecar of the proxy's scope,
// RequestAuthentications that verified or refused a token. Inbound also the PeerAuthentications of the
// workload. `policies` are all PeerAuthentications of the mesh.
void AddMeshObjects(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope,
                    const std::vector<config::ConfigPtr>& policies, const SimulatedRequest& request,
                    SimulationOutcome* outcome);

}  // namespace fairlead::simulate

#endif  // FAIRLEAD_SIMULATE_OBJECTS_H_
