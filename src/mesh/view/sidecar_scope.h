#ifndef FAIRLEAD_MESH_VIEW_SIDECAR_SCOPE_H_
#define FAIRLEAD_MESH_VIEW_SIDECAR_SCOPE_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/interned.h"
#include "base/labels.h"
#include "base/strings.h"
#include "config/object.h"
#include "mesh/index/routing_objects.h"
#include "model/service.h"

namespace istio::networking::v1alpha3 {
class IstioEgressListener;
class OutboundTrafficPolicy;
class Sidecar;
}  // namespace istio::networking::v1alpha3

namespace fairlead::mesh {

// Values by hostname. The keys are views of the hostnames of services that the owner of the map holds as
// well.
template <typename Value>
using HostnameMap = absl::flat_hash_map<std::string_view, Value, StringViewHash, StringViewEqual>;

// One egress listener of a Sidecar with what its hosts import, but for HTTP routes; the default scope has
// one, for everything visible.
struct EgressListener {
  const istio::networking::v1alpha3::IstioEgressListener* spec = nullptr;  // null in the default scope
  bool match_port = false;                  // services are cut down to the listener's port
  std::vector<model::ServicePtr> services;  // in Istio's order (age, then hostname); a host may occur twice
  std::vector<VirtualServicePtr>
      stream_routes;  // the virtual services with TCP or TLS routes, in Istio's order

  friend bool operator==(const EgressListener&, const EgressListener&) = default;
};

// What the workloads that one Sidecar object (or none) selects in a namespace may see, but for HTTP routes:
// what clusters, endpoints and listeners are made from. Shared by all of them, and by successive scopes that
// differ in HTTP routes alone. Immutable, thread-safe to read. Source: Istio's SidecarScope; API:
// istio.networking.v1alpha3.Sidecar.
class ScopeImports {
 public:
  ScopeImports() = default;
  ScopeImports(const ScopeImports&) = delete;
  ScopeImports& operator=(const ScopeImports&) = delete;

  Interned ns;                                                    // where it takes effect
  config::ConfigPtr object;                                       // the Sidecar; null for the default scope
  const istio::networking::v1alpha3::Sidecar* sidecar = nullptr;  // its spec, or null
  std::vector<EgressListener> egress;                             // never empty
  // Union over the egress listeners, for clusters: one per hostname, with the ports that any listener
  // imports, and the destinations of the virtual services.
  std::vector<model::ServicePtr> services;
  HostnameMap<model::ServicePtr> services_by_host;
  // The Sidecar's, else the mesh's. Null only for routers.
  std::shared_ptr<const istio::networking::v1alpha3::OutboundTrafficPolicy> outbound_traffic_policy;
  // Rules by the hostname of each imported service, in lookup order (filled by the builder).
  HostnameMap<std::vector<DestinationRulePtr>> destination_rules;

  // Null where the host is not imported.
  model::ServicePtr FindService(std::string_view hostname) const;
  // The rule for an imported service as a client with `workload_labels` in this scope sees it; null if none.
  // Lookup order: client namespace, service namespace, root namespace; a workloadSelector that matches first.
  // `outbound` false: as the server side looks it up (inbound clusters), where workloadSelectors do not
  // count.
  DestinationRulePtr FindDestinationRule(std::string_view host, const LabelMap& workload_labels,
                                         bool outbound = true) const;
  // Whether that lookup's answer depends on the labels: a rule with a workloadSelector is among the
  // candidates.
  bool RuleDependsOnLabels(std::string_view host) const;

  // By content: everything else follows from what is compared.
  friend bool operator==(const ScopeImports& a, const ScopeImports& b) {
    return a.ns == b.ns && a.object == b.object && a.outbound_traffic_policy == b.outbound_traffic_policy &&
           a.services == b.services && a.destination_rules == b.destination_rules && a.egress == b.egress;
  }
};
using ScopeImportsPtr = std::shared_ptr<const ScopeImports>;

// All that such workloads may see. Immutable, thread-safe to read.
struct SidecarScope {
  ScopeImportsPtr imports;  // never null
  // The virtual services of each egress listener, in Istio's order (age, then name and namespace).
  std::vector<std::vector<VirtualServicePtr>> virtual_services;

  friend bool operator==(const SidecarScope& a, const SidecarScope& b) {
    return (a.imports == b.imports || *a.imports == *b.imports) && a.virtual_services == b.virtual_services;
  }
};
using SidecarScopePtr = std::shared_ptr<const SidecarScope>;

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_VIEW_SIDECAR_SCOPE_H_
