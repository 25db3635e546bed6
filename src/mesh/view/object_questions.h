#ifndef FAIRLEAD_MESH_VIEW_OBJECT_QUESTIONS_H_
#define FAIRLEAD_MESH_VIEW_OBJECT_QUESTIONS_H_

#include <memory>
#include <string_view>
#include <vector>

#include "mesh/index/destination_rule_index.h"
#include "mesh/index/difference.h"
#include "mesh/index/policy_selection.h"

// Questions about objects, what is made of them one by one, and workloads. See question.h.
namespace fairlead::mesh::questions {

// All that an index holds of them.
struct AllVirtualServices {
  static const std::shared_ptr<const VirtualServiceIndex>& Answer(const MeshSnapshot& mesh) {
    return mesh.virtual_services;
  }
  static constexpr auto Difference = Whole<&MeshSnapshot::virtual_services>;
};

// Those for sidecars that live in a namespace. Null: none.
struct VirtualServices {
  static VirtualServiceIndex::ListPtr Answer(const MeshSnapshot& mesh, const Interned& ns) {
    return mesh.virtual_services->OfMeshIn(ns);
  }
  static constexpr auto Difference =
      ValuesOf<&MeshSnapshot::virtual_services, &VirtualServiceIndex::namespaces>;
};

// The three groups of those for a gateway, see VirtualServiceIndex::GroupsFor. Null: none. Those for sidecars
// ("mesh") are not asked for one by one.
struct GatewayRoutesForAll {
  static VirtualServiceIndex::ListPtr Answer(const MeshSnapshot& mesh, const Interned& gateway) {
    return mesh.virtual_services->ForAll(gateway);
  }
  static void Difference(const MeshSnapshot& before, const MeshSnapshot& after, Visit visit);
};
struct GatewayRoutesOwn {
  static VirtualServiceIndex::ListPtr Answer(const MeshSnapshot& mesh, const Interned& gateway,
                                             const Interned& ns) {
    return mesh.virtual_services->OwnOf(ns, gateway);
  }
  static void Difference(const MeshSnapshot& before, const MeshSnapshot& after, Visit visit);
};
struct GatewayRoutesExported {
  static VirtualServiceIndex::ListPtr Answer(const MeshSnapshot& mesh, const Interned& gateway,
                                             const Interned& ns) {
    return mesh.virtual_services->ExportedTo(ns, gateway);
  }
  static void Difference(const MeshSnapshot& before, const MeshSnapshot& after, Visit visit);
};

// Of a namespace. Null: none.
struct DestinationRules {
  static NamespaceRulesPtr Answer(const MeshSnapshot& mesh, const Interned& ns) {
    return mesh.destination_rules->Namespace(ns);
  }
  static constexpr auto Difference =
      ValuesOf<&MeshSnapshot::destination_rules, &DestinationRuleIndex::namespaces>;
};

// Of a namespace. Null: none.
struct PeerAuthentications {
  static NamespacePeerAuthenticationPtr Answer(const MeshSnapshot& mesh, const Interned& ns) {
    return mesh.peer_authentications->Namespace(ns);
  }
  static constexpr auto Difference =
      ValuesOf<&MeshSnapshot::peer_authentications, &PeerAuthenticationIndex::namespaces>;
};

// The policies of a kind in a namespace. Null: none.
struct Policies {
  static NamespacePoliciesPtr Answer(const MeshSnapshot& mesh, config::Kind kind, const Interned& ns);
  static void Difference(const MeshSnapshot& before, const MeshSnapshot& after, Visit visit);
};

// The objects of a kind. Null: none.
struct AllObjects {
  static std::shared_ptr<const ObjectIndex::OfKind> Answer(const MeshSnapshot& mesh, config::Kind kind) {
    return mesh.objects->All(kind);
  }
  static void Difference(const MeshSnapshot& before, const MeshSnapshot& after, Visit visit);
};

// Those in a namespace, oldest first. Null: none.
struct Objects {
  static ObjectIndex::ListPtr Answer(const MeshSnapshot& mesh, config::Kind kind, const Interned& ns) {
    return mesh.objects->In(kind, ns);
  }
  static void Difference(const MeshSnapshot& before, const MeshSnapshot& after, Visit visit);
};

// One of them. Null: there is none.
struct Object {
  static config::ConfigPtr Answer(const MeshSnapshot& mesh, config::Kind kind, const Interned& ns,
                                  const Interned& name) {
    return mesh.objects->Find(kind, ns, name);
  }
  static Asked<Objects> Wider(config::Kind kind, const Interned& ns, const Interned&) { return {kind, ns}; }
};

// All of a kind in a cluster ("": the own one) as sources handed them over, by namespace and name. Null:
// none.
struct Written {
  static WrittenObjects::OfKind Answer(const MeshSnapshot& mesh, config::Kind kind, const Interned& cluster) {
    return mesh.written == nullptr ? nullptr : mesh.written->All(kind, cluster);
  }
  static void Difference(const MeshSnapshot& before, const MeshSnapshot& after, Visit visit);
};

// The other clusters that have objects. Null: none ever had.
struct OtherClusters {
  static WrittenObjects::Clusters Answer(const MeshSnapshot& mesh) {
    return mesh.written == nullptr ? nullptr : mesh.written->clusters();
  }
  static constexpr auto Difference = OfAnswer<OtherClusters>;
};

// The pods and workload entries with an address. Null: none.
struct Workloads {
  static std::shared_ptr<const WorkloadIndex::List> Answer(const MeshSnapshot& mesh,
                                                           const Interned& address) {
    return mesh.workloads->At(address);
  }
  static constexpr auto Difference = ValuesOf<&MeshSnapshot::workloads, &WorkloadIndex::by_address>;
};

// By its place (see WorkloadIndex) and name. Null: there is none.
struct Pod {
  static WorkloadIndex::Workload Answer(const MeshSnapshot& mesh, const Interned& place,
                                        const Interned& name) {
    return mesh.workloads->Pod(place, name);
  }
  static constexpr auto Difference = ValuesOf<&MeshSnapshot::workloads, &WorkloadIndex::pods>;
};

// By address, the ServiceEntries' services that are served there. Null: none.
struct ExternalTargets {
  static std::shared_ptr<const model::ExternalTargets> Answer(const MeshSnapshot& mesh,
                                                              const Interned& address) {
    return mesh.external_targets->At(address);
  }
  static constexpr auto Difference =
      ValuesOf<&MeshSnapshot::external_targets, &ExternalTargetIndex::by_address>;
};

using OfObjects = Rows<AllVirtualServices, VirtualServices, GatewayRoutesForAll, GatewayRoutesOwn,
                       GatewayRoutesExported, DestinationRules, PeerAuthentications, Policies, AllObjects,
                       Objects, Object, Written, OtherClusters, Workloads, Pod, ExternalTargets>;

}  // namespace fairlead::mesh::questions

#endif  // FAIRLEAD_MESH_VIEW_OBJECT_QUESTIONS_H_
