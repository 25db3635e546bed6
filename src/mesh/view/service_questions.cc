#include "mesh/view/service_questions.h"

#include <algorithm>

#include "mesh/view/scope_services.h"

namespace fairlead::mesh::questions {

model::ServicePtr Destination::Answer(const MeshSnapshot& mesh, const Interned& hostname,
                                      const Interned& ns) {
  const ServiceIndex::Services& of_host = mesh.services->ByHost(hostname);
  const auto own = std::find_if(of_host.begin(), of_host.end(),
                                [&ns](const model::ServicePtr& service) { return service->ns == ns; });
  if (own != of_host.end()) return *own;
  if (mesh.settings->features.best_namespace) return BestVisible(of_host, ns);
  model::ServicePtr first;
  for (const model::ServicePtr& service : of_host) {
    if (!service->visibility.VisibleIn(ns)) continue;
    if (first == nullptr || service->ns.str() < first->ns.str()) first = service;
  }
  return first;
}

void NamespaceTraits::Difference(const MeshSnapshot& before, const MeshSnapshot& after, Visit visit) {
  CompareIndexes(
      before, after, &MeshSnapshot::endpoints, [&](const EndpointIndex& was, const EndpointIndex& is) {
        is.namespaces().ForEachDifference(
            was.namespaces(),
            [&](const Interned& ns, const NamespaceEndpointsPtr* a, const NamespaceEndpointsPtr* b) {
              if (a == nullptr || b == nullptr || (*a)->traits() != (*b)->traits()) visit(ns);
            });
      });
}

}  // namespace fairlead::mesh::questions
