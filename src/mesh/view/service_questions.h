#ifndef FAIRLEAD_MESH_VIEW_SERVICE_QUESTIONS_H_
#define FAIRLEAD_MESH_VIEW_SERVICE_QUESTIONS_H_

#include <memory>
#include <string_view>

#include "mesh/index/difference.h"
#include "mesh/index/endpoint_traits.h"

// Questions about services and their endpoints. See question.h.
namespace fairlead::mesh::questions {

struct AllServices {
  static const std::shared_ptr<const ServiceIndex>& Answer(const MeshSnapshot& mesh) { return mesh.services; }
  static constexpr auto Difference = Whole<&MeshSnapshot::services>;
};

// Those that live in a namespace. Null: none.
struct Services {
  static NamespaceServicesPtr Answer(const MeshSnapshot& mesh, const Interned& ns) {
    return mesh.services->Namespace(ns);
  }
  static constexpr auto Difference = ValuesOf<&MeshSnapshot::services, &ServiceIndex::namespaces>;
};

// Those that have a hostname, by namespace. Null: none.
struct Host {
  static ServiceIndex::List Answer(const MeshSnapshot& mesh, const Interned& hostname) {
    return mesh.services->Host(hostname);
  }
  static constexpr auto Difference = ValuesOf<&MeshSnapshot::services, &ServiceIndex::hosts>;
};

// As ServiceIndex::Find.
struct NamedService {
  static model::ServicePtr Answer(const MeshSnapshot& mesh, const Interned& hostname, const Interned& ns) {
    return mesh.services->Find(hostname, ns);
  }
  static Asked<Services> Wider(const Interned&, const Interned& ns) { return {ns}; }
};

// Where a route of clients in a namespace to a host leads: the host's service in that namespace, whatever its
// exportTo, else the best visible one; null where there is none.
struct Destination {
  static model::ServicePtr Answer(const MeshSnapshot& mesh, const Interned& hostname, const Interned& ns);
  static Asked<Host> Wider(const Interned& hostname, const Interned&) { return {hostname}; }
};

// The endpoints of the services that live in a namespace. Null: none.
struct Endpoints {
  static NamespaceEndpointsPtr Answer(const MeshSnapshot& mesh, const Interned& ns) {
    return mesh.endpoints->Namespace(ns);
  }
  static constexpr auto Difference = ValuesOf<&MeshSnapshot::endpoints, &EndpointIndex::namespaces>;
};

// Of one service. Null: none.
struct ServiceEndpoints {
  static model::ServiceEndpointsPtr Answer(const MeshSnapshot& mesh, const Interned& hostname,
                                           const Interned& ns) {
    return mesh.endpoints->Find(hostname, ns);
  }
  static Asked<Endpoints> Wider(const Interned&, const Interned& ns) { return {ns}; }
};

// Stays the same while those of all its services do. Null: there are no endpoints.
struct NamespaceTraits {
  static std::shared_ptr<const void> Answer(const MeshSnapshot& mesh, const Interned& ns) {
    const NamespaceEndpointsPtr of_namespace = mesh.endpoints->Namespace(ns);
    return of_namespace == nullptr ? nullptr : of_namespace->traits();
  }
  static void Difference(const MeshSnapshot& before, const MeshSnapshot& after, Visit visit);
};

// What clusters are made from of a service's endpoints.
struct ServiceTraits {
  static EndpointTraits Answer(const MeshSnapshot& mesh, const Interned& hostname, const Interned& ns) {
    return EndpointTraits(mesh.endpoints->Find(hostname, ns));
  }
  static Asked<NamespaceTraits> Wider(const Interned&, const Interned& ns) { return {ns}; }
};

using OfServices = Rows<AllServices, Services, Host, NamedService, Destination, Endpoints, ServiceEndpoints,
                        NamespaceTraits, ServiceTraits>;

}  // namespace fairlead::mesh::questions

#endif  // FAIRLEAD_MESH_VIEW_SERVICE_QUESTIONS_H_
