#ifndef FAIRLEAD_MESH_SNAPSHOT_H_
#define FAIRLEAD_MESH_SNAPSHOT_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/call_once.h"
#include "absl/hash/hash.h"
#include "base/interned.h"
#include "base/labels.h"
#include "base/sharded_map.h"
#include "base/strings.h"
#include "base/unique_id.h"
#include "config/object.h"
#include "config/store.h"
#include "mesh/name_pair.h"
#include "mesh/peer_authentication.h"
#include "mesh/routing_objects.h"
#include "mesh/sidecar_scope.h"
#include "model/endpoint.h"
#include "model/key_sets.h"
#include "model/registry_output.h"
#include "model/service.h"
#include "model/settings.h"
#include "model/workload.h"

// The mesh at one moment: a bag of immutable indexes, published by the mesh thread and read by any thread
// without locks. Collect functions (gen/) read it; Build functions never see it. Indexes share what did not
// change with their predecessors, so that pointer equality means "unchanged".
namespace fairlead::mesh {

// The services that live in one namespace. Snapshots share it while none of them changes.
struct NamespaceServices {
  std::vector<model::ServicePtr> all;  // in Istio's order
  // Positions in `all` of services with a selector, each by one pair of it ("key=value"): the one that is
  // rarest here.
  StringMap<std::vector<uint32_t>> by_selector_pair;

  // The Kubernetes services that select a workload with these labels, in order.
  std::vector<model::ServicePtr> Selecting(const LabelMap& labels) const;
};
using NamespaceServicesPtr = std::shared_ptr<const NamespaceServices>;

class SnapshotDifference;  // snapshot_diff.cc

// What an index has of each namespace, by its name. A part is null where there is nothing, and keeps its
// pointer from snapshot to snapshot while its content stays.
template <typename Part>
using ByNamespace = ShardedMap<Interned, Part, StringViewHash, StringViewEqual, 64>;

// Services by host and namespace. Successors share the parts in which nothing changed.
class ServiceIndex {
 public:
  using Services = std::vector<model::ServicePtr>;
  using List = std::shared_ptr<const Services>;

  // All services in Istio's order: older first, then name, then namespace.
  const Services& All() const;
  // Whatever its exportTo. Where a namespace has several of a host: a Kubernetes one, else the oldest.
  model::ServicePtr Find(std::string_view hostname, std::string_view ns) const;
  // Find's answers for every namespace, in order of the namespaces; empty where the host is unknown.
  const Services& ByHost(std::string_view hostname) const;
  // The same; null where the host is unknown.
  List Host(std::string_view hostname) const;
  // All services that live in a namespace, in order.
  const Services& InNamespace(std::string_view ns) const;
  // The same; null where there are none. What Find says of a namespace depends on nothing else.
  NamespaceServicesPtr Namespace(std::string_view ns) const;
  // The services that a workload of `ns` may see: first those exported to it by name (its own private ones
  // included), then those that everybody sees, both in order.
  Services VisibleIn(std::string_view ns) const;

 private:
  friend class ServiceIndexBuilder;
  friend class SnapshotDifference;
  List all_, everywhere_;       // null: empty
  ByNamespace<List> exported_;  // to a namespace
  ByNamespace<NamespaceServicesPtr> namespaces_;
  ShardedMap<Interned, List, StringViewHash, StringViewEqual> by_host_;
};

// The endpoints of the services that live in one namespace. Immutable; snapshots share it while none of them
// changes.
class NamespaceEndpoints {
 public:
  // Null where the service has no endpoints.
  model::ServiceEndpointsPtr Find(std::string_view hostname) const;
  // Stays the same while, for all these services, their clients' clusters do that do not list endpoints: the
  // identities of the endpoints, and whether they take mutual TLS and tunnels.
  const std::shared_ptr<const void>& traits() const { return traits_; }

 private:
  friend class EndpointIndexBuilder;
  std::shared_ptr<const void> traits_;
  ShardedMap<Interned, model::ServiceEndpointsPtr, StringViewHash, StringViewEqual, 64> by_host_;
};
using NamespaceEndpointsPtr = std::shared_ptr<const NamespaceEndpoints>;

// Endpoints by service. Successors share the parts in which nothing changed.
class EndpointIndex {
 public:
  // Null where the service has no endpoints.
  model::ServiceEndpointsPtr Find(std::string_view hostname, std::string_view ns) const;
  // Null where no service of the namespace has endpoints.
  NamespaceEndpointsPtr Namespace(std::string_view ns) const;

 private:
  friend class EndpointIndexBuilder;
  friend class SnapshotDifference;
  ByNamespace<NamespaceEndpointsPtr> namespaces_;
};

// By address, the ServiceEntries' services that are served there.
class ExternalTargetIndex {
 public:
  const std::vector<model::ExternalTarget>& At(std::string_view ip) const;

 private:
  friend class ExternalTargetIndexBuilder;
  ShardedMap<Interned, std::vector<model::ExternalTarget>> by_address_;
};

// Pods and workload entries. Successors share the parts in which nothing changed.
class WorkloadIndex {
 public:
  using Workload = std::shared_ptr<const model::WorkloadInstance>;

  // A pod or workload entry; pods before entries, pods of the host network last. Null if there is none.
  const model::WorkloadInstance* FindByAddress(std::string_view ip) const;
  const model::WorkloadInstance* FindPod(std::string_view ns, std::string_view name) const;
  // What the answers for an address, or for a pod, depend on; null where there is none.
  std::shared_ptr<const std::vector<Workload>> At(std::string_view ip) const;
  Workload Pod(std::string_view ns, std::string_view name) const;
  // The workload entries with an address, by namespace and name.
  std::vector<const model::WorkloadInstance*> EntriesByAddress(std::string_view ip) const;

 private:
  friend class WorkloadIndexBuilder;
  friend class SnapshotDifference;
  using Sharing = std::shared_ptr<const std::vector<Workload>>;
  ShardedMap<std::string, Sharing, StringViewHash, StringViewEqual> by_address_;
  NamePairMap<Workload> pods_;  // by (namespace, name)
};

// Which networks there are and how to get to them: MeshNetworks and services labelled
// topology.istio.io/network.
class NetworkIndex {
 public:
  const std::vector<model::NetworkGateway>& All() const { return gateways_; }
  std::vector<model::NetworkGateway> Of(std::string_view network) const;
  std::vector<model::NetworkGateway> Of(std::string_view network, std::string_view cluster) const;

 private:
  friend class NetworkIndexBuilder;
  std::vector<model::NetworkGateway> gateways_;  // sorted
};

// Objects of one kind by namespace, oldest first: what the policy kinds (AuthorizationPolicy, Telemetry,
// EnvoyFilter, WasmPlugin, …) start from.
class ObjectIndex {
 public:
  using List = std::vector<config::ConfigPtr>;
  using ListPtr = std::shared_ptr<const List>;

  const List& Of(config::Kind kind, std::string_view ns) const;
  // The same; null where there are none.
  ListPtr In(config::Kind kind, std::string_view ns) const;
  // Those of all namespaces: sorted when they are asked for first.
  const List& Of(config::Kind kind) const;
  // Null where there is none.
  config::ConfigPtr Find(config::Kind kind, const Interned& ns, const Interned& name) const;
  // What that answer depends on; null where there are none.
  std::shared_ptr<const void> All(config::Kind kind) const { return kinds_[static_cast<size_t>(kind)]; }

 private:
  friend class ObjectIndexBuilder;
  friend class SnapshotDifference;
  // Shared by all snapshots between two changes of the kind.
  struct OfKind {
    ByNamespace<ListPtr> namespaces;
    config::ObjectStore::ByName by_name;  // shared with the store
    mutable absl::once_flag sorted;
    mutable List all;
  };
  std::array<std::shared_ptr<const OfKind>, config::KindCount()> kinds_;  // null: none
};

// All VirtualServices, and which a namespace sees. Successors share the parts in which nothing changed.
class VirtualServiceIndex {
 public:
  using List = std::vector<VirtualServicePtr>;
  using ListPtr = std::shared_ptr<const List>;
  using ListsByName = ShardedMap<std::string, ListPtr, StringViewHash, StringViewEqual, 64>;

  const List& All() const;  // oldest first
  // Those for `gateway` ("mesh" or "namespace/name") that `ns` sees, in the order in which they compete: its
  // own private ones, those exported to it by name, those that everybody sees; in each group the oldest first
  // (but Gateway API routes of the namespace itself before others).
  List VisibleIn(std::string_view ns, std::string_view gateway) const;
  // The three groups as they are.
  std::array<const List*, 3> GroupsFor(std::string_view ns, std::string_view gateway) const;
  // Those that live in a namespace and are for sidecars ("mesh"), whoever sees them, oldest first. Null where
  // there are none.
  ListPtr OfMeshIn(std::string_view ns) const;

 private:
  friend class VirtualServiceIndexBuilder;
  friend class SnapshotDifference;
  ListPtr all_;                      // null: empty
  ListsByName everywhere_;           // by gateway
  ListsByName own_;                  // by "gateway namespace"
  ListsByName exported_;             // likewise
  ByNamespace<ListPtr> of_mesh_in_;  // by the namespace where they live
};

// DestinationRules by namespace and host (destination_rule_index.h); lookups go through SidecarScope.
class DestinationRuleIndex;

class PolicyIndex;    // policy_index.h
class SidecarScopes;  // sidecar_scopes.h

struct MeshSnapshot {
  uint64_t id = NextUniqueId();  // unlike that of any other snapshot of the process
  uint64_t revision = 0;         // rises with every snapshot of the process; for logs
  model::SettingsPtr settings;
  std::shared_ptr<const ServiceIndex> services;
  std::shared_ptr<const EndpointIndex> endpoints;
  std::shared_ptr<const ExternalTargetIndex> external_targets;
  std::shared_ptr<const WorkloadIndex> workloads;
  std::shared_ptr<const NetworkIndex> networks;
  std::shared_ptr<const VirtualServiceIndex> virtual_services;
  std::shared_ptr<const DestinationRuleIndex> destination_rules;
  std::shared_ptr<const PolicyIndex> policies;  // what selects workloads, by kind and namespace
  std::shared_ptr<const PeerAuthenticationIndex> peer_authentications;  // made from `policies`
  std::shared_ptr<const ObjectIndex> objects;  // the policy kinds, gateways, Gateway API kinds, secrets
  model::KeySetsPtr key_sets;                  // of RequestAuthentications, fetched
  // What was derived from this snapshot and others, each with its reads; shared by all that came of one mesh.
  std::shared_ptr<SidecarScopes> scopes;
};
using SnapshotPtr = std::shared_ptr<const MeshSnapshot>;

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_SNAPSHOT_H_
