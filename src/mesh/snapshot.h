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

#include "absl/hash/hash.h"
#include "base/interned.h"
#include "base/labels.h"
#include "base/sharded_map.h"
#include "base/strings.h"
#include "config/object.h"
#include "mesh/name_pair.h"
#include "mesh/peer_authentication.h"
#include "mesh/routing_objects.h"
#include "mesh/sidecar_scope.h"
#include "model/endpoint.h"
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
};
using NamespaceServicesPtr = std::shared_ptr<const NamespaceServices>;

// Services by host and namespace. Successors share the parts in which nothing changed.
class ServiceIndex {
 public:
  using Services = std::vector<model::ServicePtr>;

  // All services in Istio's order: older first, then name, then namespace.
  const Services& All() const;
  // Whatever its exportTo. Where a namespace has several of a host: a Kubernetes one, else the oldest.
  model::ServicePtr Find(std::string_view hostname, std::string_view ns) const;
  // Find's answers for every namespace, in order of the namespaces; empty where the host is unknown.
  const Services& ByHost(std::string_view hostname) const;
  // All services that live in a namespace, in order.
  const Services& InNamespace(std::string_view ns) const;
  // The same; null where there are none. What Find says of a namespace depends on nothing else.
  NamespaceServicesPtr Namespace(std::string_view ns) const;
  // The Kubernetes services of a namespace that select a workload with these labels, in order.
  Services Selecting(std::string_view ns, const LabelMap& labels) const;
  // The services that a workload of `ns` may see: first those exported to it by name (its own private ones
  // included), then those that everybody sees, both in order.
  Services VisibleIn(std::string_view ns) const;

 private:
  friend class ServiceIndexBuilder;
  using List = std::shared_ptr<const Services>;
  List all_, everywhere_;     // null: empty
  StringMap<List> exported_;  // to a namespace
  StringMap<NamespaceServicesPtr> namespaces_;
  ShardedMap<Interned, Services, StringViewHash, StringViewEqual> by_host_;
};

// Endpoints by service. Successors share the parts in which nothing changed.
class EndpointIndex {
 public:
  // Null where the service has no endpoints.
  model::ServiceEndpointsPtr Find(std::string_view hostname, std::string_view ns) const;

 private:
  friend class EndpointIndexBuilder;
  NamePairMap<model::ServiceEndpointsPtr> by_service_;  // by (hostname, namespace)
};

// By address, the ServiceEntries' services that are served there.
class ExternalTargetIndex {
 public:
  const std::vector<model::ExternalTarget>& At(std::string_view ip) const;

 private:
  friend class ExternalTargetIndexBuilder;
  StringMap<std::vector<model::ExternalTarget>> by_address_;
};

// Pods and workload entries. Successors share the parts in which nothing changed.
class WorkloadIndex {
 public:
  using Workload = std::shared_ptr<const model::WorkloadInstance>;

  // A pod or workload entry; pods before entries, pods of the host network last. Null if there is none.
  const model::WorkloadInstance* FindByAddress(std::string_view ip) const;
  const model::WorkloadInstance* FindPod(std::string_view ns, std::string_view name) const;
  // The workload entries with an address, by namespace and name.
  std::vector<const model::WorkloadInstance*> EntriesByAddress(std::string_view ip) const;

 private:
  friend class WorkloadIndexBuilder;
  ShardedMap<std::string, std::vector<Workload>, StringViewHash, StringViewEqual> by_address_;
  NamePairMap<Workload> pods_;  // by (namespace, name)
};

// Which networks there are and how to get to them: MeshNetworks and services labelled
// topology.istio.io/network.
class NetworkIndex {
 public:
  bool multi_network() const { return !gateways_.empty(); }
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
  const std::vector<config::ConfigPtr>& Of(config::Kind kind, std::string_view ns) const;
  const std::vector<config::ConfigPtr>& Of(config::Kind kind) const;

 private:
  friend class ObjectIndexBuilder;
  std::array<std::vector<config::ConfigPtr>, config::KindCount()> by_kind_;
  std::array<StringMap<std::vector<config::ConfigPtr>>, config::KindCount()> by_namespace_;
};

// All VirtualServices, and which a namespace sees. Successors share the parts in which nothing changed.
class VirtualServiceIndex {
 public:
  using List = std::vector<VirtualServicePtr>;
  using ListPtr = std::shared_ptr<const List>;

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
  ListPtr all_;                    // null: empty
  StringMap<ListPtr> everywhere_;  // by gateway
  StringMap<ListPtr> own_;         // by "gateway namespace"
  StringMap<ListPtr> exported_;    // likewise
  StringMap<ListPtr> of_mesh_in_;  // by the namespace where they live
};

// DestinationRules by namespace and host (destination_rule_index.h); lookups go through SidecarScope.
class DestinationRuleIndex;

class PolicyIndex;         // policy_index.h
class MergedGatewayCache;  // merged_gateway.h

// Of each sort of input the revision of the snapshot in which it last changed: snapshots with one number
// agree in it. 0 in snapshots that no SnapshotBuilder made.
struct InputRevisions {
  uint64_t settings = 0, services = 0, endpoints = 0, networks = 0, peer_authentications = 0, objects = 0;
  // The part of `endpoints` that clusters are made from: whose identities they have, whether they take mutual
  // TLS and tunnels; all of it for services that are resolved by DNS.
  uint64_t endpoint_traits = 0;
  // The part of it that belongs to services without load balancing (headless ones), whose clients connect to
  // the endpoints themselves.
  uint64_t passthrough_endpoints = 0;
};

// Of the services that live in one namespace, and their endpoints: parts of InputRevisions.
struct NamespaceRevisions {
  uint64_t services = 0, endpoints = 0, endpoint_traits = 0, passthrough_endpoints = 0;
};

struct MeshSnapshot {
  uint64_t revision = 0;  // rises by one with every publication of a process
  InputRevisions revisions;
  // By namespace; 0 where nothing ever was.
  ShardedMap<Interned, NamespaceRevisions, absl::Hash<Interned>, std::equal_to<Interned>, 64>
      namespace_revisions;
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

  // The scope of a workload of `ns`: chosen by Sidecar selectors, made on first use and kept with the
  // snapshot (and handed on to the next one while its parts are unchanged). Thread-safe.
  SidecarScopePtr ScopeFor(std::string_view ns, const LabelMap& labels) const;
  // For routers: everything visible in their namespace, whatever Sidecars say.
  SidecarScopePtr DefaultScopeFor(std::string_view ns) const;

  // The revisions of what is there for a scope: of services and endpoints only those of the namespaces whose
  // services it sees count.
  InputRevisions RevisionsFor(const SidecarScope& scope) const;

  // Snapshots with one number agree in what the answer depends on: which services a workload has; what it
  // sees and which policies hold for it.
  uint64_t targets_revision = 0;
  uint64_t scopes_revision = 0;

  class ScopeCache;  // scope_cache.h
  std::shared_ptr<ScopeCache> scopes;
  std::shared_ptr<MergedGatewayCache> gateways;
};
using SnapshotPtr = std::shared_ptr<const MeshSnapshot>;

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_SNAPSHOT_H_
