#ifndef FAIRLEAD_MESH_SIDECAR_SCOPE_H_
#define FAIRLEAD_MESH_SIDECAR_SCOPE_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/interned.h"
#include "base/labels.h"
#include "base/strings.h"
#include "base/unique_id.h"
#include "config/object.h"
#include "mesh/routing_objects.h"
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

// One egress listener of a Sidecar with what its hosts import; the default scope has one, for everything
// visible.
struct EgressListener {
  const istio::networking::v1alpha3::IstioEgressListener* spec = nullptr;  // null in the default scope
  bool match_port = false;                  // services are cut down to the listener's port
  std::vector<model::ServicePtr> services;  // in Istio's order (age, then hostname); a host may occur twice
  std::vector<VirtualServicePtr> virtual_services;  // in Istio's order (age, then name and namespace)
  // For each service that some virtual service's host covers: the one that covers it best.
  HostnameMap<VirtualServicePtr> most_specific_virtual_service;
};

// What the workloads that one Sidecar object (or none) selects in a namespace may see. Shared by all of them.
// Immutable, thread-safe to read. Source: Istio's SidecarScope; API: istio.networking.v1alpha3.Sidecar.
class SidecarScope {
 public:
  SidecarScope() = default;
  SidecarScope(const SidecarScope&) = delete;
  SidecarScope& operator=(const SidecarScope&) = delete;

  // Unlike that of any other scope of the process.
  const uint64_t id = NextUniqueId();
  // Scopes with one number agree in everything but the HTTP routes of their virtual services: in what
  // clusters, endpoints and listeners are made from. 0: not known to agree with any other.
  uint64_t imports_id = 0;

  Interned ns;                                                    // where it takes effect
  config::ConfigPtr object;                                       // the Sidecar; null for the default scope
  const istio::networking::v1alpha3::Sidecar* sidecar = nullptr;  // its spec, or null
  std::vector<EgressListener> egress;                             // never empty
  // Union over the egress listeners, for clusters: one per hostname, with the ports that any listener
  // imports, and the destinations of the virtual services.
  std::vector<model::ServicePtr> services;
  HostnameMap<model::ServicePtr> services_by_host;
  // Where all these services live, sorted; empty where that is more than a few namespaces.
  std::vector<Interned> service_namespaces;
  // The Sidecar's, else the mesh's. Null only for routers.
  std::shared_ptr<const istio::networking::v1alpha3::OutboundTrafficPolicy> outbound_traffic_policy;

  bool HasIngressListeners() const;
  bool HasEgressListeners() const { return sidecar != nullptr && HasOwnEgress(); }

  // Null where the host is not imported.
  model::ServicePtr FindService(std::string_view hostname) const;
  // The listener that serves a port, or (port 0) a unix domain socket path; the catch-all one where none
  // does. Null only if there is no catch-all either.
  const EgressListener* FindEgress(uint32_t port, std::string_view bind) const;

  // The rule for an imported service as a client with `workload_labels` in this scope sees it; null if none.
  // Lookup order: client namespace, service namespace, root namespace; a workloadSelector that matches first.
  // `outbound` false: as the server side looks it up (inbound clusters), where workloadSelectors do not
  // count.
  DestinationRulePtr FindDestinationRule(std::string_view host, std::string_view service_ns,
                                         const LabelMap& workload_labels, bool outbound = true) const;

  // Whether that lookup's answer depends on the labels: a rule with a workloadSelector is among the
  // candidates.
  bool RuleDependsOnLabels(std::string_view host) const;

  // Rules by the hostname of each imported service, in lookup order (filled by the builder).
  HostnameMap<std::vector<DestinationRulePtr>> destination_rules;

 private:
  bool HasOwnEgress() const;
};
using SidecarScopePtr = std::shared_ptr<const SidecarScope>;

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_SIDECAR_SCOPE_H_
