#include "mesh/view/service_targets.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "base/strings.h"
#include "config/derived_object.h"
#include "config/kubernetes_types.h"
#include "istio/networking/v1alpha3/workload_entry.pb.h"

namespace fairlead::mesh {
namespace {

using config::ServicePortSpec;
using model::Protocol;
using model::ServicePtr;
using Targets = std::vector<ServiceTarget>;

const config::ServiceSpec& SpecOf(const ServicePtr& service) {
  return service->source->Spec<config::ServiceSpec>();
}

// Of ports that lead to the same port of the workload with the same protocol only the first counts: one
// listener serves them.
class ServiceTargets {
 public:
  explicit ServiceTargets(const ServicePtr& service) : service_(service) {}

  void Add(const model::ServicePort& port, uint32_t target_port) {
    const bool known = std::any_of(targets_.begin(), targets_.end(), [&](const ServiceTarget& target) {
      return target.target_port == target_port && target.port->protocol == port.protocol;
    });
    if (!known) targets_.push_back({service_, &port, target_port});
  }
  void AppendTo(Targets* targets) const { targets->insert(targets->end(), targets_.begin(), targets_.end()); }

 private:
  const ServicePtr& service_;
  Targets targets_;
};

// The number of a container port by name and transport protocol; nothing where there is none.
template <typename Ports>
std::optional<uint32_t> FindNamedPort(const Ports& ports, const ServicePortSpec& wanted) {
  for (const auto& port : ports) {
    if (port.name == wanted.target_port.name && port.protocol == wanted.protocol) return port.container_port;
  }
  return std::nullopt;
}

template <typename Ports>
std::optional<uint32_t> ResolveTargetPort(const ServicePortSpec& port, const Ports& container_ports) {
  if (port.target_port.name.empty()) return port.target_port.number;
  return FindNamedPort(container_ports, port);
}

void AddForPod(const ServicePtr& service, const config::PodSpec& pod, Targets* targets) {
  ServiceTargets of_service(service);
  for (const ServicePortSpec& port : SpecOf(service).ports) {
    const model::ServicePort* service_port = service->FindPortByName(port.name);
    const std::optional<uint32_t> number = ResolveTargetPort(port, pod.ports);
    if (service_port != nullptr && number) of_service.Add(*service_port, *number);
  }
  of_service.AppendTo(targets);
}

// The Kubernetes services of a cluster's namespace that select a workload with these labels, in order.
std::vector<ServicePtr> Selecting(View& view, const Interned& ns, const LabelMap& labels,
                                  const Interned& cluster = {}) {
  const NamespaceServicesPtr of_namespace = view.Services(ns);
  return of_namespace == nullptr ? std::vector<ServicePtr>() : of_namespace->Selecting(labels, cluster);
}

// Whether these are endpoints of a cluster's own Kubernetes services.
bool IsOfKubernetes(View& view, const model::EndpointShard& shard, const Interned& cluster) {
  if (shard.registry != static_cast<uint8_t>(model::Registry::kKubernetes)) return false;
  return cluster.empty() ? shard.cluster == view.settings(model::SettingsPart::kScopes)->cluster_id
                         : shard.cluster == cluster;
}

// The endpoints of a namespace's Kubernetes services at the proxy's address: for services without selector.
void AddByEndpoints(View& view, const model::Proxy& proxy, const Interned& cluster, Targets* targets) {
  const Interned own_address = proxy.ip_addresses.front();
  const NamespaceServicesPtr of_namespace = view.Services(proxy.metadata.ns);
  if (of_namespace == nullptr) return;
  for (const ServicePtr& of_all : of_namespace->all) {
    if (of_all->registry != model::Registry::kKubernetes) continue;
    const ServicePtr service = model::InCluster(of_all, cluster);
    if (service == nullptr) continue;
    const model::ServiceEndpointsPtr endpoints = view.Endpoints(service->hostname, service->ns);
    if (endpoints == nullptr) continue;
    for (const model::EndpointShard& shard : endpoints->shards) {
      if (!IsOfKubernetes(view, shard, cluster)) continue;
      for (const model::Endpoint& endpoint : shard.endpoints) {
        const bool own = !endpoint.addresses.empty() && endpoint.addresses.front() == own_address;
        const model::ServicePort* port = own ? service->FindPortByName(endpoint.port_name) : nullptr;
        if (port != nullptr) targets->push_back({service, port, endpoint.port});
      }
    }
  }
}

// A proxy whose pod is not known (yet) says enough of it in its metadata. All or nothing: a port that cannot
// be found leaves the proxy without any.
Targets FindByMetadata(View& view, const model::Proxy& proxy, const LabelMap& labels,
                       const Interned& cluster) {
  Targets targets;
  if (labels.empty()) return targets;
  for (const ServicePtr& service : Selecting(view, proxy.ns, labels, cluster)) {
    ServiceTargets of_service(service);
    for (const ServicePortSpec& port : SpecOf(service).ports) {
      const model::ServicePort* service_port = service->FindPortByName(port.name);
      if (service_port == nullptr) return {};
      uint32_t number = port.target_port.number;
      if (!proxy.metadata.pod_ports.empty()) {
        const std::optional<uint32_t> found = ResolveTargetPort(port, proxy.metadata.pod_ports);
        if (!found) return {};
        number = *found;
      } else if (!port.target_port.name.empty()) {
        const std::string& text = port.target_port.name;
        std::from_chars(text.data(), text.data() + text.size(), number);
      }
      of_service.Add(*service_port, number);
    }
    of_service.AppendTo(&targets);
  }
  return targets;
}

// The workload entry of a cluster that a proxy is: of those with its address the one of its name, else the
// first of its namespace, else the first.
const model::WorkloadInstance* FindEntryOf(View& view, const model::Proxy& proxy, const Interned& cluster) {
  auto entries = view.WorkloadEntriesAt(proxy.ip_addresses.front());
  std::erase_if(entries, [&cluster](const model::WorkloadInstance* entry) {
    return entry->workload->labels.empty() || entry->sources.front()->cluster() != cluster;
  });
  if (entries.empty()) return nullptr;
  if (entries.size() == 1) return entries.front();
  for (const model::WorkloadInstance* entry : entries) {
    if (entry->workload->ns == proxy.ns && StrCat(entry->name.str(), ".", proxy.ns) == proxy.id) return entry;
  }
  for (const model::WorkloadInstance* entry : entries) {
    if (entry->workload->ns == proxy.ns) return entry;
  }
  return entries.front();
}

// Where a workload entry listens for a service port: a target port's name is looked up among the entry's
// ports, and so is the service port's own where the target is a number. Nothing where a named target is
// missing.
std::optional<uint32_t> EntryPort(const ServicePortSpec& port,
                                  const istio::networking::v1alpha3::WorkloadEntry& entry) {
  const bool by_name = !port.target_port.name.empty() || port.target_port.number <= 0;
  auto it = entry.ports().find(by_name ? port.target_port.name : port.name);
  if (it != entry.ports().end() && it->second != 0) return it->second;
  if (!by_name) return port.target_port.number;
  if (!port.target_port.name.empty()) return std::nullopt;
  return port.port;
}

Targets FindForEntry(View& view, const model::WorkloadInstance& entry, const Interned& cluster) {
  Targets targets;
  const auto& spec = entry.sources.front()->Spec<istio::networking::v1alpha3::WorkloadEntry>();
  for (const ServicePtr& service : Selecting(view, entry.workload->ns, entry.workload->labels, cluster)) {
    if (service->resolution != model::Resolution::kClientSideLb) continue;
    for (const model::ServicePort& port : service->ports) {
      if (port.protocol == Protocol::kUdp) continue;
      const auto& ports = SpecOf(service).ports;
      auto in_spec = std::find_if(ports.begin(), ports.end(), [&port](const ServicePortSpec& p) {
        return p.name == port.name || p.port == static_cast<int>(port.port);
      });
      if (in_spec == ports.end()) continue;
      const std::optional<uint32_t> number = EntryPort(*in_spec, spec);
      if (number) targets.push_back({service, &port, *number});
    }
  }
  return targets;
}

// The pod of a cluster that the proxy's id names, if it is in the namespace that its metadata says.
const model::WorkloadInstance* FindPodByName(View& view, const model::Proxy& proxy, const Interned& cluster) {
  const size_t dot = proxy.id.find('.');
  if (dot == std::string::npos || proxy.id.substr(dot + 1) != proxy.metadata.ns) return nullptr;
  return view.Pod(proxy.metadata.ns, std::string_view(proxy.id).substr(0, dot), cluster);
}

bool IsStandIn(const model::WorkloadInstance* pod) {
  return pod->sources.front()->meta().annotations.contains(config::kStandInAnnotation);
}

// For proxies whose id names no pod: with the feature any, else those that were made for proxies without one.
// Of several pods, which have the host's address, one of the proxy's namespace.
const model::WorkloadInstance* FindPodByAddress(View& view, const model::Proxy& proxy,
                                                const Interned& cluster) {
  const bool asked = view.settings(model::SettingsPart::kScopes)->features.pods_by_address;
  if (proxy.ip_addresses.empty()) return nullptr;
  auto pods = view.PodsAt(proxy.ip_addresses.front());
  if (!asked) std::erase_if(pods, [](const auto* pod) { return !IsStandIn(pod); });
  std::erase_if(pods, [&cluster](const auto* pod) { return pod->sources.front()->cluster() != cluster; });
  if (pods.size() == 1) return pods.front();
  const auto own = std::find_if(pods.begin(), pods.end(), [&proxy](const model::WorkloadInstance* pod) {
    return pod->workload->ns == proxy.ns;
  });
  return own == pods.end() ? nullptr : *own;
}

const model::WorkloadInstance* FindPodIn(View& view, const model::Proxy& proxy, const Interned& cluster) {
  const auto* pod = FindPodByName(view, proxy, cluster);
  return pod != nullptr ? pod : FindPodByAddress(view, proxy, cluster);
}

// What selects the pod, without services that are there already.
void AddForStandIn(View& view, const model::WorkloadInstance& pod, const Interned& cluster,
                   Targets* targets) {
  const config::ConfigObject& object = *pod.sources.front();
  const size_t known = targets->size();
  for (const ServicePtr& service : Selecting(view, object.ns(), object.meta().labels, cluster)) {
    const bool is_there = std::any_of(targets->begin(), targets->begin() + static_cast<ptrdiff_t>(known),
                                      [&](const ServiceTarget& target) { return target.service == service; });
    if (!is_there) AddForPod(service, object.Spec<config::PodSpec>(), targets);
  }
}

Targets FindKubernetesTargets(View& view, const model::Proxy& proxy, const LabelMap& labels,
                              const Interned& cluster) {
  const model::WorkloadInstance* entry = FindEntryOf(view, proxy, cluster);
  const model::WorkloadInstance* pod = FindPodIn(view, proxy, cluster);
  if (entry != nullptr) {
    Targets found = FindForEntry(view, *entry, cluster);
    if (pod != nullptr && IsStandIn(pod)) AddForStandIn(view, *pod, cluster, &found);
    return found;
  }
  if (pod == nullptr || proxy.metadata.labels.contains(kTestVmLabel))
    return FindByMetadata(view, proxy, labels, cluster);
  Targets found;
  const config::ConfigObject& object = *pod->sources.front();
  const auto selecting = Selecting(view, object.ns(), object.meta().labels, cluster);
  for (const ServicePtr& service : selecting) AddForPod(service, object.Spec<config::PodSpec>(), &found);
  if (selecting.empty()) AddByEndpoints(view, proxy, cluster, &found);
  return found;
}

// The clusters whose registries know the proxy: its own, or every one where it names none. Source: Istio's
// skipSearchingRegistryForProxy.
std::vector<Interned> ClustersOf(View& view, const model::Proxy& proxy) {
  std::vector<Interned> all{ClusterOf(view, proxy)};
  if (!proxy.metadata.cluster_id.empty()) return all;
  if (const auto others = view.OtherClusters()) all.insert(all.end(), others->begin(), others->end());
  return all;
}

}  // namespace

std::vector<model::ExternalTarget> FindExternalTargets(View& view, const model::Proxy& proxy) {
  std::vector<model::ExternalTarget> found;
  const std::string& ns = proxy.metadata.ns;
  for (const std::string& ip : proxy.ip_addresses) {
    const auto targets = view.ExternalTargetsAt(ip);
    if (targets == nullptr) continue;
    for (const model::ExternalTarget& target : *targets) {
      if (ns.empty() || target.service->ns == ns) found.push_back(target);
    }
  }
  return found;
}

std::vector<ServiceTarget> FindServiceTargets(View& view, const model::Proxy& proxy, const LabelMap& labels) {
  Targets targets;
  for (const Interned& cluster : ClustersOf(view, proxy)) {
    Targets there = FindKubernetesTargets(view, proxy, labels, cluster);
    targets.insert(targets.end(), there.begin(), there.end());
  }
  for (const model::ExternalTarget& target : FindExternalTargets(view, proxy)) {
    targets.push_back({target.service, target.port, target.target_port});
  }
  std::stable_sort(targets.begin(), targets.end(), [](const ServiceTarget& a, const ServiceTarget& b) {
    const model::Service &x = *a.service, &y = *b.service;
    return x.creation_time != y.creation_time ? x.creation_time < y.creation_time : x.hostname < y.hostname;
  });
  return targets;
}

const model::WorkloadInstance* FindPodOf(View& view, const model::Proxy& proxy) {
  for (const Interned& cluster : ClustersOf(view, proxy)) {
    if (const auto* pod = FindPodIn(view, proxy, cluster)) return pod;
  }
  return nullptr;
}

Interned ClusterOf(View& view, const model::Proxy& proxy) {
  const std::string& id = proxy.metadata.cluster_id;
  const bool own = id == view.settings(model::SettingsPart::kScopes)->cluster_id;
  return own ? Interned() : Interned(id);
}

}  // namespace fairlead::mesh
