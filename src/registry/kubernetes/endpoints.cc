#include "registry/kubernetes/endpoints.h"

#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "config/kubernetes_types.h"
#include "model/workload_labels.h"
#include "registry/kubernetes/service.h"

namespace fairlead::registry {
namespace {

using config::EndpointSliceSpec;
using config::SliceEndpoint;
using model::Endpoint;
using model::Health;

// Conditions that are not set count as true, as the API says. Draining is told apart only where sessions
// outlive an endpoint's removal. Source: discovery/v1 EndpointConditions.
Health HealthOf(const SliceEndpoint& endpoint, const model::Service* service, const MeshFacts& facts) {
  if (endpoint.ready.value_or(true)) return Health::kHealthy;
  if (service == nullptr || !endpoint.terminating.value_or(true)) return Health::kUnhealthy;
  if (facts.settings->features.KeepsSessions(service->labels) && endpoint.serving.value_or(true))
    return Health::kDraining;
  return Health::kTerminating;
}

PodLookup Lookup(const config::ConfigObject& slice, const SliceEndpoint& endpoint, const Interned& address) {
  if (endpoint.target && endpoint.target->kind == "Pod") {
    return {true, {endpoint.target->ns, endpoint.target->name}};
  }
  return {false, {slice.ns(), address}};
}

// The addresses of a pod of both families, which is one endpoint of a service of both: then its IPv6 slices
// repeat what those of IPv4 say. Empty: every address of a slice is an endpoint. Source: Istio,
// updateEndpointCacheForSlice.
std::vector<Interned> PodAddresses(const model::Service* service, const PodRecord* pod, bool by_name,
                                   const MeshFacts& facts) {
  if (!facts.settings->features.dual_stack || !by_name) return {};
  if (service == nullptr || service->cluster_vips.size() < 2) return {};
  const std::vector<std::string>& addresses = pod->object->Spec<config::PodSpec>().pod_ips;
  if (addresses.size() < 2) return {};
  return {addresses.begin(), addresses.end()};
}

// Appends what one slice says about one address, a port at a time. `all`: the endpoint's, if it has more.
void AppendPorts(const std::vector<config::SlicePort>& ports, const Interned& address,
                 const std::vector<Interned>& all, Health health, const model::WorkloadPtr& workload,
                 absl::flat_hash_set<std::pair<Interned, Interned>>& seen, std::vector<Endpoint>& out) {
  for (const config::SlicePort& port : ports) {
    Interned port_name = port.name;
    if (!seen.emplace(address, port_name).second) continue;
    Endpoint endpoint;
    endpoint.addresses = all.empty() ? std::vector<Interned>{address} : all;
    endpoint.port_name = std::move(port_name);
    endpoint.port = port.port.value_or(0);
    endpoint.health = health;
    endpoint.workload = workload;
    out.push_back(std::move(endpoint));
  }
}

// Where a WorkloadEntry serves a port of a Kubernetes service; nothing where the port's name says nothing to
// it.
std::optional<uint32_t> PortOfEntry(const model::ServicePort& port, const SelectableWorkload& entry) {
  const std::string& name = port.target_port_name.empty() ? port.name : port.target_port_name;
  if (!name.empty()) {
    const auto it = entry.ports.find(name);
    if (it != entry.ports.end() && it->second != 0) return it->second;
    if (!port.target_port_name.empty()) return std::nullopt;
  }
  return port.target_port != 0 ? port.target_port : port.port;
}

}  // namespace

Name ServiceOfSlice(const config::ConfigObject& slice) {
  const LabelMap& labels = slice.meta().labels;
  // Slices that another cluster's services export are not this cluster's.
  if (labels.contains("multicluster.kubernetes.io/service-name")) return {slice.ns(), {}};
  return {slice.ns(), LabelOr(labels, "kubernetes.io/service-name")};
}

bool Counts(const EndpointSliceSpec& slice, const SlicesByName& slices) {
  return !slice.mirror || slices.size() == 1;
}

std::vector<PodLookup> PodLookupsOf(const config::ConfigObject& slice) {
  std::vector<PodLookup> lookups;
  for (const SliceEndpoint& endpoint : slice.Spec<EndpointSliceSpec>().endpoints) {
    for (const Interned& address : endpoint.addresses) lookups.push_back(Lookup(slice, endpoint, address));
  }
  return lookups;
}

const model::WorkloadPtr& PodlessWorkloads::For(const Interned& address, const MeshFacts& facts) {
  Interned network = facts.networks.NetworkOf(address, {});
  model::WorkloadPtr& workload = by_network_[network];
  if (workload == nullptr || workload->cluster != facts.cluster) {
    model::Workload made;
    made.cluster = facts.cluster;
    made.network = network;
    made.tls_mode = "disabled";
    made.labels = model::WithTopologyLabels({}, made.cluster, {}, "", network);
    workload = std::make_shared<const model::Workload>(std::move(made));
  }
  return workload;
}

std::vector<Endpoint> BuildSliceEndpoints(const SlicesByName& slices, const model::Service* service,
                                          const PodIndex& pods, PodlessWorkloads& podless,
                                          const MeshFacts& facts) {
  std::vector<Endpoint> out;
  // Nobody asks for them, but a VirtualService may name the service, and its cluster is empty then. Of one
  // that the mesh's default hides there are some, as there are with istiod.
  if (service != nullptr && HidesItself(*service)) return out;
  absl::flat_hash_set<std::pair<Interned, Interned>> seen;
  for (const auto& [name, slice] : slices) {
    const auto& spec = slice->Spec<EndpointSliceSpec>();
    if (spec.address_type == "FQDN" || !Counts(spec, slices)) continue;
    for (const SliceEndpoint& endpoint : spec.endpoints) {
      const Health health = HealthOf(endpoint, service, facts);
      for (const Interned& address : endpoint.addresses) {
        const PodLookup lookup = Lookup(*slice, endpoint, address);
        const PodRecord* pod =
            lookup.by_name ? pods.Find(lookup.key) : pods.FindByAddress(lookup.key.first, lookup.key.second);
        if (pod == nullptr && lookup.by_name) continue;
        const auto all = PodAddresses(service, pod, lookup.by_name, facts);
        if (!all.empty() && spec.address_type == "IPv6") continue;
        AppendPorts(spec.mirror ? endpoint.ports : spec.ports, address, all, health,
                    pod != nullptr ? pod->workload : podless.For(address, facts), seen, out);
      }
    }
  }
  return out;
}

void AppendSelectedEntries(const model::Service& service, const Interned& cluster,
                           const SelectableIndex& workloads, std::vector<Endpoint>* endpoints) {
  if (service.selector.empty() || service.resolution != model::Resolution::kClientSideLb) return;
  for (const model::ServicePort& port : service.ports) {
    for (const auto& [name, candidate] : workloads.EntriesIn(service.ns)) {
      const SelectableWorkload& entry = *candidate;
      if (name.second != cluster || entry.dns_only ||
          !SelectorMatches(service.selector, entry.workload->labels))
        continue;
      const std::optional<uint32_t> target = PortOfEntry(port, entry);
      if (!target) continue;
      Endpoint endpoint;
      endpoint.addresses = {entry.address};
      endpoint.port_name = port.name;
      endpoint.port = *target;
      endpoint.weight = entry.weight;
      endpoint.health = entry.health;
      endpoint.workload = entry.workload;
      endpoints->push_back(std::move(endpoint));
    }
  }
}

}  // namespace fairlead::registry
