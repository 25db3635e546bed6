#include "registry/serviceentry/registry.h"

#include <algorithm>
#include <string>
#include <utility>

#include "istio/networking/v1alpha3/service_entry.pb.h"
#include "registry/serviceentry/service.h"
#include "registry/serviceentry/workload_entry.h"

namespace fairlead::registry {
namespace {

using istio::networking::v1alpha3::ServiceEntry;
using model::Endpoint;
using model::ServicePtr;

// Whether Envoy resolves the names of the endpoints. Entries of the kind DYNAMIC_DNS have none to resolve.
bool ResolvesByDns(const ServiceEntry& entry) {
  return entry.resolution() == ServiceEntry::DNS || entry.resolution() == ServiceEntry::DNS_ROUND_ROBIN;
}

bool HostIsEndpoint(const ServiceEntry& entry) {
  return entry.endpoints_size() == 0 && !entry.has_workload_selector() && ResolvesByDns(entry);
}

SelectableWorkload HostEndpoint(const model::WorkloadPtr& workload, const Interned& host) {
  SelectableWorkload out;
  out.workload = workload;
  out.address = host.str();
  return out;
}

model::Workload HostWorkload(const config::ConfigObject& object, const MeshFacts& facts) {
  model::Workload workload;
  workload.name = object.name();
  workload.ns = object.ns();
  workload.cluster = facts.cluster;
  workload.tls_mode = "disabled";
  return workload;
}

// Where the workload serves a port: a unix socket has none, then the workload's own map counts, then the
// entry's targetPort, then the port's number.
Endpoint AtPort(const SelectableWorkload& workload, const model::ServicePort& port) {
  Endpoint endpoint;
  endpoint.port_name = port.name;
  endpoint.service_port = port.port;
  endpoint.weight = workload.weight;
  endpoint.health = workload.health;
  endpoint.workload = workload.workload;
  if (std::string_view(workload.address).starts_with(kUnixPrefix)) {
    endpoint.addresses = {std::string_view(workload.address).substr(kUnixPrefix.size())};
    return endpoint;
  }
  endpoint.addresses = {workload.address};
  for (const std::string& address : workload.more_addresses) endpoint.addresses.emplace_back(address);
  const auto mapped = workload.ports.find(port.name);
  if (mapped != workload.ports.end() && mapped->second != 0) {
    endpoint.port = mapped->second;
  } else {
    endpoint.port = port.target_port != 0 ? port.target_port : port.port;
  }
  return endpoint;
}

}  // namespace

void ServiceEntryRegistry::SetEntry(const Name& name, const config::ConfigPtr& object, const MeshFacts& facts,
                                    ServiceTable* services, Dirty* dirty,
                                    std::vector<config::Diagnostic>* problems) {
  static const auto* none = new Entry();
  std::shared_ptr<const Entry> known;
  if (const auto* entry = entries_.Find(name)) {
    known = *entry;
    entries_.Erase(name);
    Unlink(name, *known, dirty);
  }
  const Entry& before = known == nullptr ? *none : *known;
  const config::ObjectKey key{config::Kind::kServiceEntry, name.first, name.second};
  if (object == nullptr) {
    services->Set(key, {});
    return;
  }
  services->Set(key, ConvertServiceEntry(object, *facts.settings, problems));
  Entry entry;
  entry.object = object;
  const auto& spec = object->Spec<ServiceEntry>();
  for (int i = 0; i < spec.endpoints_size(); ++i) {
    const size_t index = i;
    const SelectablePtr old =
        index < before.inline_endpoints.size() ? before.inline_endpoints[index] : nullptr;
    entry.inline_endpoints.push_back(KeepIfEqual(old, FromInlineEndpoint(*object, i, *facts.settings)));
  }
  if (HostIsEndpoint(spec))
    entry.host_workload = KeepIfEqual(before.host_workload, HostWorkload(*object, facts));
  entry.hosts.insert(spec.hosts().begin(), spec.hosts().end());
  Link(name, entry, dirty);
  entries_[name] = std::make_shared<const Entry>(std::move(entry));
}

void ServiceEntryRegistry::Link(const Name& name, const Entry& entry, Dirty* dirty) {
  for (const Interned& host : entry.hosts) {
    entries_by_host_[{host, name.first}].insert(name);
    dirty->emplace(host, name.first);
  }
  if (entry.object->Spec<ServiceEntry>().has_workload_selector())
    selecting_by_namespace_[name.first].insert(name);
}

void ServiceEntryRegistry::Unlink(const Name& name, const Entry& entry, Dirty* dirty) {
  for (const Interned& host : entry.hosts) {
    const model::ServiceKey key{host, name.first};
    std::set<Name>& of_host = entries_by_host_[key];
    of_host.erase(name);
    if (of_host.empty()) entries_by_host_.Erase(key);
    dirty->insert(key);
  }
  if (!selecting_by_namespace_.contains(name.first)) return;
  std::set<Name>& selecting = selecting_by_namespace_[name.first];
  selecting.erase(name);
  if (selecting.empty()) selecting_by_namespace_.Erase(name.first);
}

void ServiceEntryRegistry::MarkSelecting(const Interned& ns, const LabelMap& labels, Dirty* dirty) const {
  const std::set<Name>* selecting = selecting_by_namespace_.Find(ns);
  if (selecting == nullptr) return;
  for (const Name& name : *selecting) {
    const Entry& entry = **entries_.Find(name);
    const auto& selector = entry.object->Spec<ServiceEntry>().workload_selector().labels();
    if (!SelectorMatches({selector.begin(), selector.end()}, labels)) continue;
    for (const Interned& host : entry.hosts) dirty->emplace(host, ns);
  }
}

std::vector<SelectablePtr> ServiceEntryRegistry::SelectFor(const Entry& entry, const Interned& host,
                                                           const SelectableIndex& workloads,
                                                           const model::Features& features) const {
  const auto& spec = entry.object->Spec<ServiceEntry>();
  if (HostIsEndpoint(spec)) {
    return {std::make_shared<const SelectableWorkload>(HostEndpoint(entry.host_workload, host))};
  }
  if (!spec.has_workload_selector()) return entry.inline_endpoints;
  const LabelMap selector(spec.workload_selector().labels().begin(), spec.workload_selector().labels().end());
  return workloads.Select(entry.object->ns(), [&](const SelectableWorkload& workload) {
    return (!workload.dns_only || ResolvesByDns(spec)) &&
           (features.entries_select_pods || !workload.is_pod) &&
           SelectorMatches(selector, workload.workload->labels);
  });
}

ServiceEntryRegistry::Shard ServiceEntryRegistry::BuildShard(const model::ServiceKey& key,
                                                             const SelectableIndex& workloads,
                                                             const ServiceTable& services,
                                                             const MeshFacts& facts) const {
  Shard shard;
  shard.endpoints.cluster = facts.cluster;
  shard.endpoints.registry = static_cast<uint8_t>(model::Registry::kExternal);
  const std::set<Name>* names = entries_by_host_.Find(key);
  if (names == nullptr) return shard;
  std::vector<const Entry*> entries;
  for (const Name& name : *names) entries.push_back(entries_.Find(name)->get());
  std::stable_sort(entries.begin(), entries.end(), [](const Entry* a, const Entry* b) {
    return a->object->meta().creation_time < b->object->meta().creation_time;
  });
  std::set<uint32_t> ports;
  for (const Entry* entry : entries) {
    const std::vector<SelectablePtr> selected =
        SelectFor(*entry, key.first, workloads, facts.settings->features);
    for (const ServicePtr& service : services.Of(config::KeyOf(*entry->object))) {
      if (service->hostname != key.first) continue;
      for (const SelectablePtr& workload : selected) {
        for (const model::ServicePort& port : service->ports) {
          // A cluster that rotates over the addresses of one name takes one name: the first.
          const bool rotates = service->resolution == model::Resolution::kDnsRoundRobinLb;
          if (rotates && ports.contains(port.port)) continue;
          ports.insert(port.port);
          Endpoint endpoint = AtPort(*workload, port);
          shard.targets.emplace_back(endpoint.addresses.front(),
                                     model::ExternalTarget{service, &port, endpoint.port, endpoint.workload});
          shard.endpoints.endpoints.push_back(std::move(endpoint));
        }
      }
    }
  }
  return shard;
}

std::vector<Name> ServiceEntryRegistry::All() const {
  std::vector<Name> names;
  for (const auto& [name, entry] : entries_) names.push_back(name);
  return names;
}

}  // namespace fairlead::registry
