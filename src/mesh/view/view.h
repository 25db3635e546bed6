#ifndef FAIRLEAD_MESH_VIEW_VIEW_H_
#define FAIRLEAD_MESH_VIEW_VIEW_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include "cache/recorded.h"
#include "mesh/view/asker.h"
#include "model/proxy_class.h"

namespace fairlead::mesh {

class View;

// Tells of a value that was given out although it is no longer what would be made: the log, and a counter
// that tests read.
void ReportMismatch(std::string_view what);
uint64_t MismatchCount();

// A value of the cache that holds in the world, made where none does by `make`: (View&, the value that was
// given out last or null) -> shared_ptr<const Value>. With world.shadow every value is made, and one that
// should have held and is not `equal` is reported.
template <typename Key, typename Value, typename Make, typename Equal>
cache::Recorded<Value, Reads> GetRecorded(cache::RecordedCache<Key, Value, Reads>& cache, const World& world,
                                          const Key& key, Make&& make, Equal&& equal);

// The one door from the maker of a value to a snapshot and to the client that it is made for; see Asker. What
// a value is made from besides its key is thereby recorded, and need not be declared. Used by one thread,
// while one value is made.
//
// INVARIANT: a value made through a view depends on nothing of the world but the noted answers.
class View : public Asker {
 public:
  explicit View(const World& world) : Asker(world) {}

  // Names for questions, and what is put together from several. The mesh: see
  // {settings,service,object}_questions.h.
  model::SettingsPtr settings() { return Ask<questions::Settings>(); }
  model::SettingsPtr settings(model::SettingsPart part) { return Ask<questions::SettingsPart>(part); }
  std::shared_ptr<const NetworkIndex> networks() { return Ask<questions::Networks>(); }
  std::vector<std::string> InternalRanges() { return Ask<questions::InternalRanges>(); }
  model::KeySetPtr KeySet(const model::KeySource& s) { return Ask<questions::KeySet>(s.uri, s.issuer); }
  model::TrustBundlePtr TrustBundle() { return Ask<questions::TrustBundle>(); }
  model::SecretReviewerPtr SecretReviewer() { return Ask<questions::SecretReviewer>(); }
  model::SecretAccess SecretAccess(const model::ClusterAccount& who) {
    return Ask<questions::SecretAccess>(who.cluster, who.account);
  }
  const ServiceIndex& all_services() { return *Peek<questions::AllServices>(); }
  NamespaceServicesPtr Services(const Interned& ns) { return Ask<questions::Services>(ns); }
  const std::vector<model::ServicePtr>& Host(const Interned& hostname) {
    return OrEmpty(Peek<questions::Host>(hostname));
  }
  // The same service, noted with all of its namespace, or alone.
  model::ServicePtr FindService(const Interned& hostname, const Interned& ns) {
    return AskWidely<questions::NamedService>(hostname, ns);
  }
  model::ServicePtr NamedService(const Interned& hostname, const Interned& ns) {
    return Ask<questions::NamedService>(hostname, ns);
  }
  model::ServicePtr Destination(const Interned& host, const Interned& ns) {
    return Ask<questions::Destination>(host, ns);
  }
  model::ServiceEndpointsPtr Endpoints(const Interned& hostname, const Interned& ns) {
    return Ask<questions::ServiceEndpoints>(hostname, ns);
  }
  EndpointTraits TraitsOfEndpoints(const Interned& hostname, const Interned& ns) {
    return AskWidely<questions::ServiceTraits>(hostname, ns);
  }
  NamespacePeerAuthenticationPtr peer_authentication(const Interned& ns) {
    return Ask<questions::PeerAuthentications>(ns);
  }
  NamespacePeerAuthenticationPtr mesh_peer_authentication();  // of the root namespace
  const ObjectIndex::List& Objects(config::Kind kind, const Interned& ns) {
    return OrEmpty(Peek<questions::Objects>(kind, ns));
  }
  const ObjectIndex::List& AllObjects(config::Kind kind) {
    return ObjectIndex::Sorted(Peek<questions::AllObjects>(kind));
  }
  WrittenObjects::OfKind Written(config::Kind kind, const Interned& cluster = {}) {
    return Ask<questions::Written>(kind, cluster);
  }
  WrittenObjects::Clusters OtherClusters() { return Ask<questions::OtherClusters>(); }
  config::ConfigPtr Object(config::Kind kind, const Interned& ns, const Interned& name) {
    return Ask<questions::Object>(kind, ns, name);
  }
  NamespacePoliciesPtr PoliciesIn(config::Kind kind, const Interned& ns) {
    return Ask<questions::Policies>(kind, ns);
  }
  std::vector<const model::WorkloadInstance*> WorkloadEntriesAt(const Interned& address) {
    return WorkloadIndex::EntriesOf(Peek<questions::Workloads>(address));
  }
  std::vector<const model::WorkloadInstance*> PodsAt(const Interned& address) {
    return WorkloadIndex::PodsOf(Peek<questions::Workloads>(address));
  }
  // `cluster` as in config::ObjectMeta.
  const model::WorkloadInstance* Pod(const Interned& ns, const Interned& name, const Interned& cluster) {
    return Peek<questions::Pod>(WorkloadIndex::PlaceOf(ns, cluster), name);
  }
  std::shared_ptr<const model::ExternalTargets> ExternalTargetsAt(const Interned& address) {
    return Ask<questions::ExternalTargets>(address);
  }
  VirtualServiceIndex::ListPtr VirtualServicesIn(const Interned& ns) {
    return Ask<questions::VirtualServices>(ns);
  }
  const VirtualServiceIndex& all_virtual_services() { return *Peek<questions::AllVirtualServices>(); }
  // The VirtualServices for a gateway that the client's namespace sees, in the order in which they compete.
  VirtualServiceIndex::List VirtualServicesFor(const Interned& gateway);
  NamespaceRulesPtr RulesIn(const Interned& ns) { return Ask<questions::DestinationRules>(ns); }

  // What the client sees, and what a router serves: see scope_questions.h.
  const ScopeImports& imports() { return *Peek<questions::Imports>(); }
  const SidecarScope& routes() { return *Peek<questions::Routes>(); }
  model::ServicePtr Imported(const Interned& host) { return AskUnlessWider<questions::Imported>(host); }
  DestinationRulePtr Rule(const Interned& host) { return AskUnlessWider<questions::Rule>(host); }
  DestinationRulePtr InboundRule(const Interned& host) { return Ask<questions::InboundRule>(host); }
  config::ConfigPtr sidecar_object() { return Ask<questions::Sidecar>(); }
  const istio::networking::v1alpha3::OutboundTrafficPolicy& outbound_policy();
  std::shared_ptr<const std::vector<GatewayPort>> gateway_ports() { return Ask<questions::GatewayPorts>(); }
  GatewayRoutePtr gateway_route(const Interned& name) { return Ask<questions::GatewayRouteNamed>(name); }
  std::shared_ptr<const std::vector<Interned>> gateway_names() { return Ask<questions::GatewayNames>(); }
  std::shared_ptr<const std::vector<std::string>> gateway_passthrough_hosts() {
    return Ask<questions::GatewayPassthroughHosts>();
  }
  std::shared_ptr<const std::vector<GatewayServerPtr>> gateway_servers() {
    return Ask<questions::GatewayServers>();
  }

  // The client: see client_questions.h.
  const model::ProxyClass& proxy_class() { return *Peek<questions::Class>(); }
  model::ProxyClassPtr proxy_class_ptr() { return Ask<questions::Class>(); }
  const std::string& client_namespace() { return Ask<questions::Namespace>(); }
  Interned sidecar_key() { return Ask<questions::SidecarKey>(); }
  // The policies of a kind that hold for it, see SelectPolicies.
  std::vector<config::ConfigPtr> Policies(config::Kind kind);
  std::optional<std::string_view> FindLabel(const Interned& key) { return Ask<questions::Label>(key); }
  std::string_view Label(const Interned& key) { return FindLabel(key).value_or(""); }
  bool IsLabelled() { return Ask<questions::IsLabelled>(); }
  // Whether the client has all these labels; a map of strings.
  template <typename Selector>
  bool HasLabels(const Selector& selector) {
    for (const auto& [key, value] : selector) {
      if (FindLabel(key) != std::string_view(value)) return false;
    }
    return true;
  }
  // ProxyConfig as it applies: the fields that resources depend on of metadata PROXY_CONFIG, else the mesh's
  // default (ProxyConfig objects take effect when a proxy is started: its metadata holds what came of them).
  // Never null.
  std::shared_ptr<const istio::mesh::v1alpha1::ProxyConfig> proxy_config();
  const model::Locality& locality() { return Ask<questions::Locality>(); }
  const std::string& node_name() { return Ask<questions::NodeName>(); }
  const std::string& workload_name() { return Ask<questions::WorkloadName>(); }
  const std::string& metadata_namespace() { return Ask<questions::MetadataNamespace>(); }
  const std::string& domain() { return Ask<questions::Domain>(); }
  std::string_view Annotation(const Interned& key) { return Ask<questions::Annotation>(key); }
  std::optional<std::string_view> Metadata(const Interned& key) { return Ask<questions::Metadata>(key); }
  const std::string& node_cluster() { return Ask<questions::NodeCluster>(); }
  const std::string& mesh_id() { return Ask<questions::MeshId>(); }
  bool HasAddress(const Interned& address) { return Ask<questions::HasAddress>(address); }
  const std::vector<ServiceTarget>& targets() { return *Peek<questions::Targets>(); }
  const std::vector<GatewayTarget>& target_ports() { return Ask<questions::TargetPorts>(); }
  const PeerAuthentication& own_mutual_tls() { return *Peek<questions::OwnMutualTls>(); }
  // What may be seen by some alone is decided by this.
  const std::optional<model::PeerIdentity>& identity() { return Ask<questions::Identity>(); }
  const model::Proxy& proxy() { return *Peek<questions::Proxy>(); }  // the value is this proxy's alone

  // A value of a cache, made through a view of its own where none holds; its reads count for this view, too.
  // Make: View& -> shared_ptr<const Value>.
  template <typename Key, typename Value, typename Make, typename Equal>
  std::shared_ptr<const Value> Use(cache::RecordedCache<Key, Value, Reads>& cache, const Key& key,
                                   Make&& make, Equal&& equal) {
    const auto recorded = GetRecorded(
        cache, world(), key, [&](View& view, const std::shared_ptr<const Value>&) { return make(view); },
        equal);
    Add(*recorded.reads);
    return recorded.value;
  }
};

template <typename Key, typename Value, typename Make, typename Equal>
cache::Recorded<Value, Reads> GetRecorded(cache::RecordedCache<Key, Value, Reads>& cache, const World& world,
                                          const Key& key, Make&& make, Equal&& equal) {
  const auto record = [&](const World& w, const std::shared_ptr<const Value>& like) {
    View view(w);
    std::shared_ptr<const Value> value = make(view, like);
    return cache::Recorded<Value, Reads>{std::move(value), view.Take()};
  };
  if (!world.shadow) return cache.Get(key, world, record);
  return cache.GetInShadow(key, world, record, equal, [](const Key&, const Value&, const Value&) {
    ReportMismatch(typeid(std::pair<Key, Value>).name());
  });
}

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_VIEW_VIEW_H_
