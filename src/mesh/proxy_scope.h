#ifndef FAIRLEAD_MESH_PROXY_SCOPE_H_
#define FAIRLEAD_MESH_PROXY_SCOPE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/labels.h"
#include "mesh/merged_gateway.h"
#include "mesh/service_target.h"
#include "mesh/sidecar_scope.h"
#include "mesh/snapshot.h"
#include "model/proxy.h"

namespace fairlead::mesh {

// A proxy in one snapshot: who it is there, what it serves and what it sees. Immutable; made per (snapshot,
// proxy) and the only thing about the proxy that Collect functions read.
struct ProxyScope {
  // Scopes of one proxy with one number agree in all that is the workload's own: in everything here but what
  // it sees through `sidecar`, of which the object itself, its outbound policy and the rules for the targets'
  // hosts count. 0: not known to agree with any other.
  uint64_t own_id = 0;

  model::ProxyPtr proxy;
  LabelMap labels;           // the pod's where known, else the metadata's
  model::Locality locality;  // the registry's where known, else the node's
  SidecarScopePtr sidecar;   // never null
  std::vector<ServiceTarget>
      targets;  // ordered as Istio orders them: services by age and hostname, ports in order
  PeerAuthentication peer_authentication;  // effective for this workload
  MergedGatewayPtr gateway;                // of a router: the Gateways that select it; null if none do
  // ProxyConfig as it applies: metadata PROXY_CONFIG, else the mesh's defaultConfig (ProxyConfig objects take
  // effect when a proxy is started: its metadata holds what came of them). Never null.
  std::shared_ptr<const istio::mesh::v1alpha1::ProxyConfig> proxy_config;

  // What of the snapshot it was made from, see MeshSnapshot.
  uint64_t targets_revision = 0;
  uint64_t scopes_revision = 0;
  // Set where the targets were found by the endpoints at the proxy's address.
  std::shared_ptr<const EndpointIndex> endpoints;
};
using ProxyScopePtr = std::shared_ptr<const ProxyScope>;

// `previous`, which may be null, is what an earlier snapshot gave for the same proxy: what did not change
// since is taken over, and if nothing did, `previous` itself is returned.
ProxyScopePtr ComputeProxyScope(const MeshSnapshot& snapshot, const model::ProxyPtr& proxy,
                                const ProxyScopePtr& previous = nullptr);

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_PROXY_SCOPE_H_
