#ifndef FAIRLEAD_MESH_VIEW_H_
#define FAIRLEAD_MESH_VIEW_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "cache/recorded.h"
#include "mesh/destination_rule_index.h"
#include "mesh/policy_selection.h"
#include "mesh/proxy_scope.h"
#include "mesh/reads.h"
#include "mesh/sidecar_scope.h"
#include "mesh/snapshot.h"
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

// The one door from the maker of a value to a snapshot and to the client that it is made for. Every accessor
// notes what was asked and which part answered, misses included. What a value is made from besides its key is
// thereby recorded, and need not be declared. Used by one thread, while one value is made.
//
// INVARIANT: a value made through a view depends on nothing of the world but the noted parts.
class View {
 public:
  explicit View(const World& world) : world_(world) {}
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  const World& world() const { return world_; }
  // What was noted so far. The view must not be used any more.
  ReadsPtr Take();
  // The value was made from something that no question names: it never holds again.
  void MarkUnrepeatable() { repeatable_ = false; }

  // The mesh. Pointers stay valid as long as the snapshot.
  const model::SettingsPtr& settings();  // all of them
  // Cut down to what one consumer reads.
  const model::SettingsPtr& settings(model::SettingsPart part);
  const std::shared_ptr<const NetworkIndex>& networks();
  const ServiceIndex& all_services();
  NamespaceServicesPtr Services(const Interned& ns);  // null: none
  const std::vector<model::ServicePtr>& Host(const Interned& hostname);
  // As ServiceIndex::Find.
  model::ServicePtr FindService(const Interned& hostname, const Interned& ns);
  // Of several services with one host in one namespace the youngest; null where there is none.
  model::ServicePtr NamedService(const Interned& hostname, const Interned& ns);
  model::ServiceEndpointsPtr Endpoints(const Interned& hostname, const Interned& ns);  // null: none
  // The same for one who reads of them what clusters are made from (see EndpointIndex::Traits) and nothing
  // else.
  model::ServiceEndpointsPtr EndpointsForTraits(const Interned& hostname, const Interned& ns);
  NamespacePeerAuthenticationPtr peer_authentication(const Interned& ns);  // null: none
  NamespacePeerAuthenticationPtr mesh_peer_authentication();               // of the root namespace
  const ObjectIndex::List& Objects(config::Kind kind, const Interned& ns);
  const ObjectIndex::List& AllObjects(config::Kind kind);
  // All of a kind as sources handed them over, by namespace and name; null: none.
  WrittenObjects::OfKind Written(config::Kind kind);
  config::ConfigPtr Object(config::Kind kind, const Interned& ns, const Interned& name);  // null: none
  NamespacePoliciesPtr PoliciesIn(config::Kind kind, const Interned& ns);                 // null: none
  std::vector<const model::WorkloadInstance*> WorkloadEntriesAt(const Interned& address);
  // `cluster` as in config::ObjectMeta.
  const model::WorkloadInstance* Pod(const Interned& ns, const Interned& name, const Interned& cluster);
  // The pods with an address, those of the host network last.
  std::vector<const model::WorkloadInstance*> PodsAt(const Interned& address);
  // Null where there are none.
  std::shared_ptr<const model::ExternalTargets> ExternalTargetsAt(const Interned& address);
  VirtualServiceIndex::ListPtr VirtualServicesIn(const Interned& ns);
  const VirtualServiceIndex& all_virtual_services();
  // The VirtualServices for a gateway that the client's namespace sees, in the order in which they compete.
  VirtualServiceIndex::List VirtualServicesFor(const Interned& gateway);
  // The ranges of addresses that MeshNetworks names, as they are written, sorted.
  std::vector<std::string> InternalRanges();
  NamespaceRulesPtr RulesIn(const Interned& ns);
  // Where a route of clients in `ns` to `host` leads: the host's service in that namespace, whatever its
  // exportTo, else the best visible one; null where there is none.
  model::ServicePtr Destination(const Interned& host, const Interned& ns);
  model::KeySetPtr KeySet(const model::KeySource& source);  // null: not known
  model::TrustBundlePtr TrustBundle();

  // What the client sees.
  const ScopeImports& imports();
  const SidecarScope& routes();
  model::ServicePtr Imported(const Interned& hostname);  // null: not imported
  DestinationRulePtr Rule(const Interned& hostname);
  DestinationRulePtr InboundRule(const Interned& hostname);
  const config::ConfigPtr& sidecar_object();
  const istio::networking::v1alpha3::OutboundTrafficPolicy& outbound_policy();
  // What it serves, see MergedGateway. REQUIRES: the client is a router.
  std::shared_ptr<const std::vector<GatewayPort>> gateway_ports();
  GatewayRoutePtr gateway_route(const Interned& name);  // null: there is none
  std::shared_ptr<const std::vector<Interned>> gateway_names();
  std::shared_ptr<const std::vector<std::string>> gateway_passthrough_hosts();  // null: none passes through
  std::shared_ptr<const std::vector<GatewayServerPtr>> gateway_servers();

  // The client.
  const model::ProxyClass& proxy_class() { return *proxy_class_ptr(); }
  const model::ProxyClassPtr& proxy_class_ptr();
  const std::string& client_namespace();
  const Interned& slot();  // see ProxyScope
  // The policies of a kind that hold for it, see SelectPolicies.
  std::vector<config::ConfigPtr> Policies(config::Kind kind);
  std::string_view Label(const Interned& key);  // "" where it is absent
  std::optional<std::string_view> FindLabel(const Interned& key);
  bool IsLabelled();  // has any
  // Whether the client has all these labels; a map of strings.
  template <typename Selector>
  bool HasLabels(const Selector& selector) {
    for (const auto& [key, value] : selector) {
      if (!HasLabel(key, value)) return false;
    }
    return true;
  }
  // ProxyConfig as it applies: the fields that resources depend on of metadata PROXY_CONFIG, else the mesh's
  // default (ProxyConfig objects take effect when a proxy is started: its metadata holds what came of them).
  // Never null.
  std::shared_ptr<const istio::mesh::v1alpha1::ProxyConfig> proxy_config();
  const model::Locality& locality();
  const std::string& node_name();
  const std::string& workload_name();
  const std::string& metadata_namespace();
  const std::string& domain();
  std::string_view Annotation(const Interned& key);  // of its metadata; "" where it is absent
  // Of its node metadata as it was sent; nothing where there is no text by that key.
  std::optional<std::string_view> Metadata(const Interned& key);
  const std::string& node_cluster();
  const std::string& mesh_id();
  bool HasAddress(const Interned& address);
  const std::vector<ServiceTarget>& targets();
  // The same for one who reads of them the services' names, namespaces and labels' keys, ports, protocols and
  // target ports, and nothing else.
  const std::vector<ServiceTarget>& target_ports();
  const PeerAuthentication& own_mutual_tls();
  // Who it has proven to be; what may be seen by some alone is decided by this.
  const std::optional<model::PeerIdentity>& identity();
  const model::Proxy& proxy();  // all that it says of itself: the value is this proxy's alone

  // A value of a cache, made through a view of its own where none holds; its reads count for this view, too.
  // Make: View& -> shared_ptr<const Value>.
  template <typename Key, typename Value, typename Make, typename Equal>
  std::shared_ptr<const Value> Use(cache::RecordedCache<Key, Value, Reads>& cache, const Key& key,
                                   Make&& make, Equal&& equal) {
    const auto recorded = GetRecorded(
        cache, world_, key, [&](View& view, const std::shared_ptr<const Value>&) { return make(view); },
        equal);
    Add(*recorded.reads);
    return recorded.value;
  }

  // Notes what another value was made from.
  void Add(const Reads& reads);

 private:
  template <typename T>
  std::shared_ptr<const T> Note(Question question);
  void NoteAnswer(const Question& question);
  bool HasLabel(const Interned& key, std::string_view value);

  const World world_;
  absl::flat_hash_map<Question, Answer> noted_;
  bool repeatable_ = true;
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

#endif  // FAIRLEAD_MESH_VIEW_H_
