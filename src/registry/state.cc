#include "registry/state.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/strings.h"
#include "registry/kubernetes/gateway_resources.h"
#include "registry/kubernetes/network_gateways.h"
#include "registry/kubernetes/service.h"
#include "registry/serviceentry/workload_entry.h"

namespace fairlead::registry {
namespace {

using config::Kind;

MeshFacts MakeFacts(const config::ObjectStore& store, const model::SettingsPtr& settings) {
  MeshFacts facts;
  facts.settings = settings;
  facts.cluster = settings->cluster_id;
  std::string problem;
  facts.filter = model::DiscoveryFilter(*settings->mesh, store, &problem);
  if (!problem.empty()) facts.problems.push_back(StrCat("MeshConfig: discoverySelectors: ", problem));
  const config::ConfigPtr system = store.Find(Kind::kNamespace, "", settings->system_namespace);
  facts.networks =
      NetworkLookup(*settings, system == nullptr ? LabelMap() : system->meta().labels, &facts.problems);
  return facts;
}

// Whether a pod has other addresses than before.
bool HasMoved(const PodIndex::Change& change) {
  if (change.before.instance == nullptr || change.after.instance == nullptr)
    return change.before.instance != change.after.instance;
  return change.before.instance->addresses != change.after.instance->addresses;
}

void VisitAll(const config::ObjectStore& store, Kind kind, absl::flat_hash_set<Name>* names) {
  for (const auto& [name, object] : store.All(kind)) names->insert(name);
}

template <typename Names>
void VisitKnown(const Names& known, absl::flat_hash_set<Name>* names) {
  names->insert(known.begin(), known.end());
}

}  // namespace

void Registries::State::Apply(const config::ObjectStore& store, std::span<const config::ObjectChange> changes,
                              const model::SettingsPtr& settings) {
  output.changes = {};
  const bool may_change_facts =
      facts.settings != settings || std::any_of(changes.begin(), changes.end(),
                                                [](const auto& c) { return c.key.kind == Kind::kNamespace; });
  bool everything = false;
  if (may_change_facts) {
    MeshFacts now = MakeFacts(store, settings);
    everything = !(now == facts);
    if (now.problems != facts.problems) output.changes.diagnostics = true;
    facts = std::move(now);
  }
  if (everything) {
    VisitEverything(store);
  } else {
    for (const config::ObjectChange& change : changes) Visit(change);
  }
  UpdatePods(store);
  UpdateWorkloadEntries(store);
  UpdateServices(store);
  UpdateServiceEntries(store);
  services.ResolveAliases();
  NoteServiceChanges();
  UpdateEndpoints();
  UpdateGateways(store);
  UpdateDiagnostics();
  visit = {};
}

void Registries::State::VisitEverything(const config::ObjectStore& store) {
  VisitKnown(pods.All(), &visit.pods);
  VisitKnown(kubernetes.AllServices(), &visit.services);
  VisitKnown(kubernetes.AllSlices(), &visit.slices);
  VisitKnown(entries.All(), &visit.service_entries);
  for (const auto& [name, record] : workload_entries) visit.workload_entries.insert(name);
  VisitAll(store, Kind::kPod, &visit.pods);
  VisitAll(store, Kind::kService, &visit.services);
  VisitAll(store, Kind::kEndpointSlice, &visit.slices);
  VisitAll(store, Kind::kServiceEntry, &visit.service_entries);
  VisitAll(store, Kind::kWorkloadEntry, &visit.workload_entries);
  // Names of services, identities and networks of what stays may differ.
  for (const Name& name : visit.services) dirty_services.insert(name);
  for (const auto& [key, endpoints] : output.endpoints) dirty_hosts.insert(key);
  visit.gateways = true;
}

void Registries::State::Visit(const config::ObjectChange& change) {
  const Name name{change.key.ns, change.key.name};
  switch (change.key.kind) {
    case Kind::kPod:
      visit.pods.insert(name);
      break;
    case Kind::kWorkloadEntry:
      visit.workload_entries.insert(name);
      break;
    case Kind::kService:
      visit.services.insert(name);
      break;
    case Kind::kEndpointSlice:
      visit.slices.insert(name);
      break;
    case Kind::kServiceEntry:
      visit.service_entries.insert(name);
      break;
    case Kind::kNode:
      VisitKnown(pods.OnNode(change.key.name), &visit.pods);
      visit.gateways = true;
      break;
    case Kind::kKubernetesGateway:
      visit.gateways = true;
      break;
    case Kind::kNamespace:
      // Its annotations hold for its services.
      VisitKnown(kubernetes.ServicesIn(change.key.name), &visit.services);
      break;
    default:
      break;
  }
}

config::ConfigPtr Registries::State::Find(const config::ObjectStore& store, Kind kind,
                                          const Name& name) const {
  return facts.filter.Selects(name.first) ? store.Find(kind, name.first, name.second) : nullptr;
}

void Registries::State::SetInstance(const WorkloadInstancePtr& before, const WorkloadInstancePtr& after) {
  if (before == after) return;
  output.changes.workloads.push_back({before, after});
  if (before != nullptr) output.workloads.Erase(before);
  if (after != nullptr) output.workloads.Insert(after);
}

void Registries::State::OnSelectableChange(const Interned& ns, const SelectablePtr& before,
                                           const SelectablePtr& after) {
  if (before == after) return;
  const SelectablePtr& some = after != nullptr ? after : before;
  selectable.Set(ns, some->is_pod, some->name, after);
  for (const SelectablePtr& version : {before, after}) {
    if (version == nullptr) continue;
    entries.MarkSelecting(ns, version->workload->labels, &dirty_hosts);
    if (version->is_pod) {
      kubernetes.MarkUsersOfAddress(ns, version->address, &dirty_services);
    } else {
      kubernetes.MarkSelecting(ns, version->workload->labels, &dirty_services);
    }
  }
}

void Registries::State::UpdatePods(const config::ObjectStore& store) {
  for (const Name& name : visit.pods) {
    const PodIndex::Change change = pods.Update(name, Find(store, Kind::kPod, name), store, facts);
    SetInstance(change.before.instance, change.after.instance);
    OnSelectableChange(name.first, change.before.selectable, change.after.selectable);
    const bool moved = facts.settings->features.dual_stack && HasMoved(change);
    if (moved || change.before.workload != change.after.workload)
      kubernetes.MarkUsersOfPod(name, &dirty_services);
  }
}

void Registries::State::UpdateWorkloadEntries(const config::ObjectStore& store) {
  for (const Name& name : visit.workload_entries) {
    const config::ConfigPtr object = Find(store, Kind::kWorkloadEntry, name);
    WorkloadEntryRecord before;
    if (const WorkloadEntryRecord* known = workload_entries.Find(name)) {
      before = *known;
      workload_entries.Erase(name);
    }
    WorkloadEntryRecord after{object, nullptr, before.instance};
    if (object != nullptr && IsHealthy(*object)) {
      after.selectable = KeepIfEqual(before.selectable, FromWorkloadEntry(*object, *facts.settings));
    }
    if (before.object != after.object || before.selectable != after.selectable) {
      after.instance = nullptr;
      if (after.selectable != nullptr) {
        model::WorkloadInstance instance;
        instance.workload = after.selectable->workload;
        instance.name = name.second;
        instance.addresses = {after.selectable->address};
        instance.sources = {object};
        instance.ready = true;
        after.instance = std::make_shared<const model::WorkloadInstance>(std::move(instance));
      }
      SetInstance(before.instance, after.instance);
    }
    OnSelectableChange(name.first, before.selectable, after.selectable);
    if (object != nullptr) workload_entries[name] = std::move(after);
  }
}

void Registries::State::UpdateServices(const config::ObjectStore& store) {
  for (const Name& name : visit.slices) {
    kubernetes.SetSlice(name, Find(store, Kind::kEndpointSlice, name), &dirty_services);
  }
  for (const Name& name : visit.services) {
    const model::ServicePtr before = kubernetes.FindService(name);
    const config::ConfigPtr ns = store.Find(Kind::kNamespace, "", name.first);
    kubernetes.SetService(name, Find(store, Kind::kService, name),
                          ns == nullptr ? nullptr : &ns->meta().annotations, facts, &services,
                          &dirty_services);
    for (const model::ServicePtr& version : {before, kubernetes.FindService(name)}) {
      if (version != nullptr && MayBeNetworkGateway(*version, facts)) visit.gateways = true;
    }
  }
}

void Registries::State::UpdateServiceEntries(const config::ObjectStore& store) {
  for (const Name& name : visit.service_entries) {
    std::vector<config::Diagnostic> problems;
    entries.SetEntry(name, Find(store, Kind::kServiceEntry, name), facts, &services, &dirty_hosts, &problems);
    Report({Kind::kServiceEntry, name.first, name.second}, std::move(problems));
  }
}

void Registries::State::UpdateGateways(const config::ObjectStore& store) {
  if (!std::exchange(visit.gateways, false)) return;
  std::vector<model::NetworkGateway> gateways = facts.networks.static_gateways();
  kubernetes.AppendNetworkGateways(store, facts, &gateways);
  for (const auto& [name, gateway] : store.All(Kind::kKubernetesGateway)) {
    if (facts.filter.Selects(name.first)) AppendGatewaysOfResource(*gateway, facts, &gateways);
  }
  std::sort(gateways.begin(), gateways.end());
  gateways.erase(std::unique(gateways.begin(), gateways.end()), gateways.end());
  if (gateways == output.network_gateways) return;
  output.network_gateways = std::move(gateways);
  output.changes.network_gateways = true;
}

void Registries::State::Report(const config::ObjectKey& object, std::vector<config::Diagnostic> found) {
  if (found.empty() && !diagnostics.contains(object)) return;
  output.changes.diagnostics = true;
  if (found.empty()) {
    diagnostics.Erase(object);
  } else {
    diagnostics.Set(object, std::move(found));
  }
}

void Registries::State::UpdateDiagnostics() {
  if (!output.changes.diagnostics) return;
  output.diagnostics.clear();
  for (const std::string& problem : facts.problems) {
    config::Diagnostic diagnostic;
    diagnostic.severity = config::Severity::kWarning;
    diagnostic.code = "bad-setting";
    diagnostic.message = problem;
    output.diagnostics.push_back(std::move(diagnostic));
  }
  for (const auto& [object, list] : diagnostics) {
    output.diagnostics.insert(output.diagnostics.end(), list.begin(), list.end());
  }
  for (const auto& [host, diagnostic] : host_conflicts) output.diagnostics.push_back(diagnostic);
}

}  // namespace fairlead::registry
