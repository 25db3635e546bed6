#ifndef FAIRLEAD_MESH_VIEW_PROXY_SCOPE_H_
#define FAIRLEAD_MESH_VIEW_PROXY_SCOPE_H_

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/labels.h"
#include "mesh/index/merged_gateway.h"
#include "mesh/index/service_target.h"
#include "mesh/index/snapshot.h"
#include "mesh/view/reads.h"
#include "mesh/view/sidecar_scope.h"
#include "model/proxy.h"

namespace fairlead::mesh {

// A proxy in one snapshot: who it is there, what it serves and what it sees. Immutable. Makers of values read
// it through a View.
struct ProxyScope {
  model::ProxyPtr proxy;
  LabelMap labels;            // the pod's where known, else the metadata's
  model::Locality locality;   // the registry's where known, else the node's
  SidecarScopePtr sidecar;    // never null
  MergedGatewayPtr gateways;  // of a router what it serves; null for all others
  // Which scope it is, through all that changes in the mesh: the namespace and the name of the Sidecar.
  Interned sidecar_key;
  // Ordered as Istio orders them: services by age and hostname, ports in order. Never null.
  std::shared_ptr<const std::vector<ServiceTarget>> targets;
  std::shared_ptr<const PeerAuthentication> peer_authentication;  // effective for this workload; never null
  // What all this was made from: what is the proxy's own, the scope, and what a router serves. Null in scopes
  // that were made by hand, the last one for all but routers.
  ReadsPtr own_reads, sidecar_reads, gateway_reads;
  std::array<const ReadsPtr*, 3> reads() const { return {&own_reads, &sidecar_reads, &gateway_reads}; }
};
using ProxyScopePtr = std::shared_ptr<const ProxyScope>;

// Whether a scope that ComputeProxyScope gave for another snapshot is that of this one.
bool ScopeHolds(const MeshSnapshot& snapshot, const ProxyScope& scope);

// `previous`, which may be null, is what another snapshot gave for the same proxy: what did not change
// since is taken over, and if nothing did, `previous` itself is returned. `shadow`: see World.
ProxyScopePtr ComputeProxyScope(const MeshSnapshot& snapshot, const model::ProxyPtr& proxy,
                                const ProxyScopePtr& previous = nullptr, bool shadow = false);

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_VIEW_PROXY_SCOPE_H_
