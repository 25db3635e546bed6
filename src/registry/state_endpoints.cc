#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/strings.h"
#include "registry/kubernetes/service.h"
#include "registry/state.h"

// The last step of an Apply: endpoints of the services that something of it touched.
namespace fairlead::registry {
namespace {

using config::Kind;

// "reviews" of "reviews.default.svc.cluster.local" in namespace default, and of its host in the cluster set;
// "" where the host is no such service's.
Interned KubernetesNameOf(const model::ServiceKey& key, const model::Settings& settings) {
  const std::string_view host = key.first;
  for (const std::string& suffix : {KubernetesHostname("", key.second.str(), settings.domain),
                                    ClusterSetHostname("", key.second.str())}) {
    if (host.ends_with(suffix)) return host.substr(0, host.size() - suffix.size());
  }
  return {};
}

std::vector<std::string> ServiceAccountsOf(const std::vector<model::EndpointShard>& shards) {
  std::set<Interned> accounts;
  for (const model::EndpointShard& shard : shards) {
    for (const model::Endpoint& endpoint : shard.endpoints) {
      if (!endpoint.workload->service_account.empty()) accounts.insert(endpoint.workload->service_account);
    }
  }
  std::vector<std::string> texts;
  texts.reserve(accounts.size());
  for (const Interned& account : accounts) texts.push_back(account.str());
  return texts;
}

bool TargetOrder(const model::ExternalTarget& a, const model::ExternalTarget& b) {
  const auto order = [](const model::ExternalTarget& t) {
    return std::tuple(t.service->creation_time, t.service->hostname, t.service->ns, t.service->source->name(),
                      std::string_view(t.service->address));
  };
  return order(a) < order(b);
}

}  // namespace

void Registries::State::NoteServiceChanges() {
  services.All().ForEachDifference(output.services, [this](const model::ServicePtr& service, bool is_in) {
    output.changes.services.push_back(is_in ? model::ServiceChange{nullptr, service}
                                            : model::ServiceChange{service, nullptr});
    // Targets point to services, which a new alias replaces.
    const model::ServiceKey key{service->hostname, service->ns};
    if (entries.Has(key) || target_addresses.contains(key)) dirty_hosts.insert(key);
  });
  output.services = services.All();
}

void Registries::State::UpdateEndpoints() {
  absl::flat_hash_map<model::ServiceKey, Name> keys;
  for (const model::ServiceKey& key : std::exchange(dirty_hosts, {})) {
    keys[key] = {key.second, KubernetesNameOf(key, *Own().facts.settings)};
  }
  for (auto& [id, cluster] : clusters) {
    for (const Name& name : std::exchange(cluster.dirty_services, {})) {
      keys[KubernetesRegistry::KeyOf(name, cluster.facts)] = name;
      const model::ServiceKey second{ClusterSetHostname(name.second.str(), name.first.str()), name.first};
      if (IsImported(name) || output.endpoints.contains(second)) keys[second] = name;
    }
  }
  for (const auto& [key, kubernetes_name] : keys) BuildEndpoints(key, kubernetes_name);
}

// Whether a service has a host in the cluster set: a ServiceImport of some cluster makes it.
bool Registries::State::IsImported(const Name& name) const {
  return std::any_of(clusters.begin(), clusters.end(),
                     [&](const auto& of) { return of.second.cluster_set.Imported(name) != nullptr; });
}

void Registries::State::AddKubernetesShards(const Name& name, bool of_cluster_set,
                                            std::vector<model::EndpointShard>* shards) {
  if (of_cluster_set && !IsImported(name)) return;
  const size_t first = shards->size();
  for (auto& [id, cluster] : clusters) {
    const model::ServicePtr service =
        of_cluster_set ? cluster.cluster_set.Imported(name) : cluster.kubernetes.FindService(name);
    const bool kept = cluster.cluster_set.KeepsEndpoints(name, of_cluster_set, service != nullptr,
                                                         cluster.facts.settings->features);
    model::EndpointShard shard =
        cluster.kubernetes.BuildShard(name, service.get(), kept, cluster.pods, selectable, cluster.facts);
    if (!shard.endpoints.empty()) shards->push_back(std::move(shard));
    Report({Kind::kEndpointSlice, name.first, name.second, id},
           cluster.kubernetes.SliceProblems(name, cluster.pods));
  }
  std::sort(shards->begin() + static_cast<ptrdiff_t>(first), shards->end(),
            [](const auto& a, const auto& b) { return a.cluster < b.cluster; });
}

void Registries::State::BuildEndpoints(const model::ServiceKey& key, const Name& kubernetes_name) {
  model::ServiceEndpoints made;
  // In the order of the registries' names: External, Kubernetes.
  if (entries.Has(key) || target_addresses.contains(key)) {
    ServiceEntryRegistry::Shard shard = entries.BuildShard(key, selectable, services, Own().facts);
    SetTargets(key, std::move(shard.targets));
    if (!shard.endpoints.endpoints.empty()) made.shards.push_back(std::move(shard.endpoints));
  }
  if (!kubernetes_name.second.empty())
    AddKubernetesShards(kubernetes_name, IsClusterSetHostname(key.first), &made.shards);
  ReportHostConflict(key, kubernetes_name);
  made.service_accounts = ServiceAccountsOf(made.shards);

  const model::ServiceEndpointsPtr* old = output.endpoints.Find(key);
  if (made.shards.empty()) {
    if (old == nullptr) return;
    output.endpoints.Erase(key);
  } else {
    if (old != nullptr && **old == made) return;
    output.endpoints[key] = std::make_shared<const model::ServiceEndpoints>(std::move(made));
  }
  output.changes.endpoints.push_back(key);
}

void Registries::State::SetTargets(const model::ServiceKey& key,
                                   std::vector<std::pair<Interned, model::ExternalTarget>> targets) {
  absl::flat_hash_map<Interned, model::ExternalTargets> by_address;
  for (auto& one : targets) by_address[one.first].push_back(std::move(one.second));
  std::vector<Interned> addresses;
  for (const auto& [address, list] : by_address) addresses.push_back(address);
  if (const std::vector<Interned>* before = target_addresses.Find(key)) {
    for (const Interned& address : *before) by_address[address];
  }
  for (auto& [address, list] : by_address) SetTargetsAt(address, key, std::move(list));
  if (addresses.empty()) {
    target_addresses.Erase(key);
  } else {
    target_addresses[key] = std::move(addresses);
  }
}

// Those of the one service; others that are served at the address stay.
void Registries::State::SetTargetsAt(const Interned& address, const model::ServiceKey& key,
                                     model::ExternalTargets targets) {
  std::stable_sort(targets.begin(), targets.end(), TargetOrder);
  const auto* before = output.external_targets.Find(address);
  if (before != nullptr) {
    // They are in order: sorting all of them for each service of a shared address would cost their square.
    model::ExternalTargets others;
    others.reserve((*before)->size());
    for (const model::ExternalTarget& target : **before) {
      const model::Service& service = *target.service;
      if (service.hostname != key.first || service.ns != key.second) others.push_back(target);
    }
    if (targets.empty()) {
      targets = std::move(others);
    } else if (!others.empty()) {
      model::ExternalTargets own = std::move(targets);
      targets.clear();
      targets.reserve(own.size() + others.size());
      std::merge(own.begin(), own.end(), others.begin(), others.end(), std::back_inserter(targets),
                 TargetOrder);
    }
  }
  if (before == nullptr ? targets.empty() : **before == targets) return;
  output.changes.external_targets = true;
  if (targets.empty()) {
    output.external_targets.Erase(address);
  } else {
    output.external_targets[address] = std::make_shared<const model::ExternalTargets>(std::move(targets));
  }
}

void Registries::State::ReportHostConflict(const model::ServiceKey& key, const Name& kubernetes_name) {
  auto having = clusters.end();
  if (entries.Has(key) && !IsClusterSetHostname(key.first)) {
    having = std::find_if(clusters.begin(), clusters.end(), [&](const auto& of) {
      return of.second.kubernetes.FindService(kubernetes_name) != nullptr;
    });
  }
  const bool conflict = having != clusters.end();
  if (conflict == host_conflicts.contains(key)) return;
  output.changes.diagnostics = true;
  if (!conflict) {
    host_conflicts.Erase(key);
    return;
  }
  config::Diagnostic diagnostic;
  diagnostic.severity = config::Severity::kWarning;
  diagnostic.code = "host-conflict";
  diagnostic.object = {Kind::kService, kubernetes_name.first, kubernetes_name.second, having->first};
  diagnostic.message = StrCat("a ServiceEntry of namespace ", key.second.str(), " has the host ",
                              key.first.str(), " too: the Service's ports count, the endpoints are joined");
  host_conflicts.Set(key, std::move(diagnostic));
}

}  // namespace fairlead::registry
