#include "registry/state.h"

#include <algorithm>
#include <iterator>
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

// `cluster`: as its objects name it.
MeshFacts MakeFacts(const config::ObjectStore& store, const Interned& cluster,
                    const model::SettingsPtr& settings) {
  MeshFacts facts;
  facts.settings = settings;
  facts.object_cluster = cluster;
  facts.cluster = cluster.empty() ? Interned(settings->cluster_id) : cluster;
  std::string problem;
  facts.filter = model::DiscoveryFilter(*settings->mesh, store, cluster, &problem);
  if (!problem.empty()) facts.problems.push_back(StrCat("MeshConfig: discoverySelectors: ", problem));
  const config::ConfigPtr system = store.Find(Kind::kNamespace, "", settings->system_namespace, cluster);
  facts.networks = NetworkLookup(*settings, facts.cluster,
                                 system == nullptr ? LabelMap() : system->meta().labels, &facts.problems);
  return facts;
}

// Whether a pod has other addresses than before.
bool HasMoved(const PodIndex::Change& change) {
  if (change.before.instance == nullptr || change.after.instance == nullptr)
    return change.before.instance != change.after.instance;
  return change.before.instance->addresses != change.after.instance->addresses;
}

void VisitAll(const config::ObjectStore::ByName& objects, absl::flat_hash_set<Name>* names) {
  for (const auto& [name, object] : objects) names->insert(name);
}

template <typename Names>
void VisitKnown(const Names& known, absl::flat_hash_set<Name>* names) {
  names->insert(known.begin(), known.end());
}

}  // namespace

void Registries::State::Apply(const config::ObjectStore& store, std::span<const config::ObjectChange> changes,
                              const model::SettingsPtr& settings) {
  output.changes = {};
  Own();
  for (const config::ObjectChange& change : changes) {
    if (config::CountsFromEveryCluster(change.key.kind)) clusters.try_emplace(change.key.cluster);
  }
  UpdateFacts(store, changes, settings);
  for (const config::ObjectChange& change : changes) Visit(change);
  for (auto& [name, cluster] : clusters) UpdatePods(store, cluster);
  for (auto& [name, cluster] : clusters) UpdateWorkloadEntries(store, cluster);
  for (auto& [name, cluster] : clusters) UpdateServices(store, cluster);
  for (auto& [name, cluster] : clusters) UpdateExports(store, cluster);
  for (auto& [name, cluster] : clusters) UpdateImports(store, cluster);
  UpdateServiceEntries(store);
  services.ResolveAliases();
  NoteServiceChanges();
  UpdateEndpoints();
  UpdateGateways(store);
  DropEmptyClusters();
  UpdateDiagnostics();
  visit = {};
}

void Registries::State::UpdateFacts(const config::ObjectStore& store,
                                    std::span<const config::ObjectChange> changes,
                                    const model::SettingsPtr& settings) {
  for (auto& [name, cluster] : clusters) {
    const bool may_change = cluster.facts.settings != settings ||
                            std::any_of(changes.begin(), changes.end(), [&](const config::ObjectChange& c) {
                              return c.key.kind == Kind::kNamespace && c.key.cluster == name;
                            });
    if (!may_change) continue;
    MeshFacts now = MakeFacts(store, name, settings);
    if (now == cluster.facts) continue;
    if (now.problems != cluster.facts.problems) output.changes.diagnostics = true;
    cluster.facts = std::move(now);
    VisitEverything(store, cluster);
    if (name.empty()) VisitOwn(store);
  }
}

void Registries::State::VisitEverything(const config::ObjectStore& store, Cluster& cluster) {
  const Interned& name = cluster.facts.object_cluster;
  VisitKnown(cluster.pods.All(), &cluster.visit_pods);
  VisitKnown(cluster.kubernetes.AllServices(), &cluster.visit_services);
  VisitKnown(cluster.kubernetes.AllSlices(), &cluster.visit_slices);
  VisitAll(store.All(Kind::kPod, name), &cluster.visit_pods);
  VisitAll(store.All(Kind::kService, name), &cluster.visit_services);
  VisitAll(store.All(Kind::kEndpointSlice, name), &cluster.visit_slices);
  for (const auto& [entry, record] : cluster.workload_entries) cluster.visit_entries.insert(entry);
  VisitAll(store.All(Kind::kWorkloadEntry, name), &cluster.visit_entries);
  for (const auto& [known, object] : cluster.cluster_set.exports()) cluster.visit_exports.insert(known);
  for (const auto& [known, object] : cluster.cluster_set.imports()) cluster.visit_imports.insert(known);
  VisitAll(store.All(Kind::kServiceExport, name), &cluster.visit_exports);
  VisitAll(store.All(Kind::kServiceImport, name), &cluster.visit_imports);
  // Names of services, identities and networks of what stays may differ.
  for (const Name& service : cluster.visit_services) cluster.dirty_services.insert(service);
  visit.gateways = true;
}

void Registries::State::VisitOwn(const config::ObjectStore& store) {
  VisitKnown(entries.All(), &visit.service_entries);
  VisitAll(store.All(Kind::kServiceEntry), &visit.service_entries);
  for (const auto& [key, endpoints] : output.endpoints) dirty_hosts.insert(key);
}

void Registries::State::Visit(const config::ObjectChange& change) {
  const Name name{change.key.ns, change.key.name};
  const auto found = clusters.find(change.key.cluster);
  if (found == clusters.end() || !(change.key.cluster.empty() || CountsFromEveryCluster(change.key.kind)))
    return;
  Cluster& cluster = found->second;
  switch (change.key.kind) {
    case Kind::kPod:
      cluster.visit_pods.insert(name);
      break;
    case Kind::kWorkloadEntry:
      cluster.visit_entries.insert(name);
      break;
    case Kind::kServiceExport:
      cluster.visit_exports.insert(name);
      break;
    case Kind::kServiceImport:
      cluster.visit_imports.insert(name);
      break;
    case Kind::kService:
      cluster.visit_services.insert(name);
      break;
    case Kind::kEndpointSlice:
      cluster.visit_slices.insert(name);
      break;
    case Kind::kServiceEntry:
      visit.service_entries.insert(name);
      break;
    case Kind::kNode:
      VisitKnown(cluster.pods.OnNode(change.key.name), &cluster.visit_pods);
      visit.gateways = true;
      break;
    case Kind::kKubernetesGateway:
      visit.gateways = true;
      break;
    case Kind::kNamespace:
      // Its annotations hold for its services.
      VisitKnown(cluster.kubernetes.ServicesIn(change.key.name), &cluster.visit_services);
      break;
    default:
      break;
  }
}

// The facts about a cluster without pods and services are made again when it has some.
void Registries::State::DropEmptyClusters() {
  for (auto it = std::next(clusters.begin()); it != clusters.end();) {
    const Cluster& cluster = it->second;
    if (!cluster.pods.empty() || !cluster.kubernetes.empty() || !cluster.cluster_set.empty() ||
        !cluster.workload_entries.empty()) {
      ++it;
      continue;
    }
    if (!cluster.facts.problems.empty()) output.changes.diagnostics = true;
    it = clusters.erase(it);
  }
}

config::ConfigPtr Registries::State::Cluster::Find(const config::ObjectStore& store, Kind kind,
                                                   const Name& name) const {
  return facts.filter.Selects(name.first) ? store.Find(kind, name.first, name.second, facts.object_cluster)
                                          : nullptr;
}

void Registries::State::SetInstance(const WorkloadInstancePtr& before, const WorkloadInstancePtr& after) {
  if (before == after) return;
  output.changes.workloads.push_back({before, after});
  if (before != nullptr) output.workloads.Erase(before);
  if (after != nullptr) output.workloads.Insert(after);
}

void Registries::State::OnPodChange(Cluster& cluster, const Interned& ns, const SelectablePtr& before,
                                    const SelectablePtr& after) {
  if (before == after) return;
  selectable.SetPod(ns, {cluster.facts.object_cluster, (after != nullptr ? after : before)->name}, after);
  for (const SelectablePtr& version : {before, after}) {
    if (version == nullptr) continue;
    entries.MarkSelecting(ns, version->workload->labels, &dirty_hosts);
    cluster.kubernetes.MarkUsersOfAddress(ns, version->address, &cluster.dirty_services);
  }
}

void Registries::State::OnEntryChange(Cluster& cluster, const Interned& ns, const SelectablePtr& before,
                                      const SelectablePtr& after) {
  if (before == after) return;
  selectable.SetEntry(ns, {(after != nullptr ? after : before)->name, cluster.facts.object_cluster}, after);
  for (const SelectablePtr& version : {before, after}) {
    if (version == nullptr) continue;
    entries.MarkSelecting(ns, version->workload->labels, &dirty_hosts);
    cluster.kubernetes.MarkSelecting(ns, version->workload->labels, &cluster.dirty_services);
  }
}

void Registries::State::UpdatePods(const config::ObjectStore& store, Cluster& cluster) {
  for (const Name& name : std::exchange(cluster.visit_pods, {})) {
    const PodIndex::Change change =
        cluster.pods.Update(name, cluster.Find(store, Kind::kPod, name), store, cluster.facts);
    SetInstance(change.before.instance, change.after.instance);
    OnPodChange(cluster, name.first, change.before.selectable, change.after.selectable);
    const bool moved = cluster.facts.settings->features.dual_stack && HasMoved(change);
    if (moved || change.before.workload != change.after.workload)
      cluster.kubernetes.MarkUsersOfPod(name, &cluster.dirty_services);
  }
}

void Registries::State::UpdateWorkloadEntries(const config::ObjectStore& store, Cluster& cluster) {
  ShardedMap<Name, WorkloadEntryRecord>& workload_entries = cluster.workload_entries;
  const model::Features& features = cluster.facts.settings->features;
  const bool own = cluster.facts.object_cluster.empty();
  const bool count = own || (features.entries_of_all_clusters && features.services_select_entries);
  for (const Name& name : std::exchange(cluster.visit_entries, {})) {
    const config::ConfigPtr object = count ? cluster.Find(store, Kind::kWorkloadEntry, name) : nullptr;
    WorkloadEntryRecord before;
    if (const WorkloadEntryRecord* known = workload_entries.Find(name)) {
      before = *known;
      workload_entries.Erase(name);
    }
    WorkloadEntryRecord after{object, nullptr, before.instance};
    if (object != nullptr && IsHealthy(*object)) {
      after.selectable = KeepIfEqual(before.selectable, FromWorkloadEntry(*object, cluster.facts));
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
    OnEntryChange(cluster, name.first, before.selectable, after.selectable);
    if (object != nullptr) workload_entries[name] = std::move(after);
  }
}

void Registries::State::UpdateServices(const config::ObjectStore& store, Cluster& cluster) {
  KubernetesRegistry& kubernetes = cluster.kubernetes;
  for (const Name& name : std::exchange(cluster.visit_slices, {})) {
    kubernetes.SetSlice(name, cluster.Find(store, Kind::kEndpointSlice, name), &cluster.dirty_services);
  }
  for (const Name& name : std::exchange(cluster.visit_services, {})) {
    const model::ServicePtr before = kubernetes.FindService(name);
    const config::ConfigPtr ns = store.Find(Kind::kNamespace, "", name.first, cluster.facts.object_cluster);
    kubernetes.SetService(name, cluster.Find(store, Kind::kService, name),
                          ns == nullptr ? nullptr : &ns->meta().annotations, cluster.facts, &services,
                          &cluster.dirty_services);
    if (before != kubernetes.FindService(name)) OnServiceChange(name);
    for (const model::ServicePtr& version : {before, kubernetes.FindService(name)}) {
      if (version != nullptr && MayBeNetworkGateway(*version, cluster.facts)) visit.gateways = true;
    }
  }
}

void Registries::State::UpdateExports(const config::ObjectStore& store, Cluster& cluster) {
  const bool count = cluster.facts.settings->features.mcs_discovery;
  for (const Name& name : std::exchange(cluster.visit_exports, {})) {
    const config::ConfigPtr object = count ? cluster.Find(store, Kind::kServiceExport, name) : nullptr;
    if (cluster.cluster_set.SetExport(name, object)) cluster.dirty_services.insert(name);
  }
}

// The Service that an import of any cluster follows is that of any cluster.
void Registries::State::OnServiceChange(const Name& name) {
  for (auto& [id, cluster] : clusters) {
    if (cluster.cluster_set.HasImport(name)) cluster.visit_imports.insert(name);
  }
}

void Registries::State::UpdateImports(const config::ObjectStore& store, Cluster& cluster) {
  const bool count = cluster.facts.settings->features.mcs_hosts;
  for (const Name& name : std::exchange(cluster.visit_imports, {})) {
    cluster.cluster_set.SetImport(name, count ? cluster.Find(store, Kind::kServiceImport, name) : nullptr);
    model::ServicePtr real;
    for (const auto& [id, other] : clusters) {
      if (real == nullptr) real = other.kubernetes.FindService(name);
    }
    const model::ServicePtr here = cluster.kubernetes.FindService(name);
    if (cluster.cluster_set.Update(name, real.get(), here.get(), cluster.facts, &services))
      cluster.dirty_services.insert(name);
  }
}

void Registries::State::UpdateServiceEntries(const config::ObjectStore& store) {
  const Cluster& own = Own();
  for (const Name& name : visit.service_entries) {
    std::vector<config::Diagnostic> problems;
    entries.SetEntry(name, own.Find(store, Kind::kServiceEntry, name), own.facts, &services, &dirty_hosts,
                     &problems);
    Report({Kind::kServiceEntry, name.first, name.second}, std::move(problems));
  }
}

void Registries::State::UpdateGateways(const config::ObjectStore& store) {
  if (!std::exchange(visit.gateways, false)) return;
  const MeshFacts& own = Own().facts;
  std::vector<model::NetworkGateway> gateways = own.networks.static_gateways();
  for (const auto& [name, cluster] : clusters)
    cluster.kubernetes.AppendNetworkGateways(store, cluster.facts, &gateways);
  for (const auto& [name, gateway] : store.All(Kind::kKubernetesGateway)) {
    if (own.filter.Selects(name.first)) AppendGatewaysOfResource(*gateway, own, &gateways);
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

// What is wrong for several clusters is said once.
std::vector<std::string> Registries::State::ProblemsOfSettings() const {
  std::vector<std::string> problems;
  for (const auto& [name, cluster] : clusters) {
    for (const std::string& problem : cluster.facts.problems) {
      if (std::find(problems.begin(), problems.end(), problem) == problems.end()) problems.push_back(problem);
    }
  }
  return problems;
}

void Registries::State::UpdateDiagnostics() {
  if (!output.changes.diagnostics) return;
  output.diagnostics.clear();
  for (const std::string& problem : ProblemsOfSettings()) {
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
