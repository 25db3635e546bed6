#include "mesh/snapshot.h"

#include <algorithm>

namespace fairlead::mesh {

InputRevisions MeshSnapshot::RevisionsFor(const SidecarScope& scope) const {
  InputRevisions all = revisions;
  if (scope.service_namespaces.empty()) return all;
  NamespaceRevisions seen;
  for (const Interned& ns : scope.service_namespaces) {
    const NamespaceRevisions* of_namespace = namespace_revisions.Find(ns);
    if (of_namespace == nullptr) continue;
    seen.services = std::max(seen.services, of_namespace->services);
    seen.endpoints = std::max(seen.endpoints, of_namespace->endpoints);
    seen.endpoint_traits = std::max(seen.endpoint_traits, of_namespace->endpoint_traits);
    seen.passthrough_endpoints = std::max(seen.passthrough_endpoints, of_namespace->passthrough_endpoints);
  }
  all.services = seen.services;
  all.endpoints = seen.endpoints;
  all.endpoint_traits = seen.endpoint_traits;
  all.passthrough_endpoints = seen.passthrough_endpoints;
  return all;
}

}  // namespace fairlead::mesh
