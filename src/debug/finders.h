#ifndef FAIRLEAD_DEBUG_FINDERS_H_
#define FAIRLEAD_DEBUG_FINDERS_H_

#include <string>
#include <vector>

#include "mesh/index/snapshot.h"
#include "mesh/view/proxy_scope.h"

// What is odd in a part of the mesh. Pure functions.
namespace fairlead::debug {

// Something odd in the mesh as it is served, under the name of istiod's metric that counts it.
struct Finding {
  std::string metric;   // "pilot_eds_no_instances"
  std::string id;       // what is odd: a cluster, a proxy, a host; each counts once
  std::string message;  // "" where the id says it all
};

// Of services and their endpoints.
std::vector<Finding> FindInMesh(const mesh::MeshSnapshot& snapshot);
// Of what workloads see: ports and hosts that several claim. `dns_capture`: the proxy answers DNS, so that
// ServiceEntries have the addresses that were allocated to them.
std::vector<Finding> FindInScope(const mesh::SidecarScope& scope, bool dns_capture);
// Of a router: servers that are left out.
std::vector<Finding> FindInGateways(const mesh::MergedGateway& gateways);
// Of what one workload serves.
std::vector<Finding> FindInTargets(const mesh::ProxyScope& scope);

}  // namespace fairlead::debug

#endif  // FAIRLEAD_DEBUG_FINDERS_H_
