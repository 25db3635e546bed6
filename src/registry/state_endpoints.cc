#include <algorithm>
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

// "reviews" of "reviews.default.svc.cluster.local" in namespace default; "" where the host is no such
// service's.
Interned KubernetesNameOf(const model::ServiceKey& key, const model::Settings& settings) {
  const std::string suffix = StrCat(".", key.second.str(), ".svc.", settings.domain);
  const std::string_view host = key.first;
  return host.ends_with(suffix) ? host.substr(0, host.size() - suffix.size()) : std::string_view();
}

std::vector<std::string> ServiceAccountsOf(const std::vector<model::EndpointShard>& shards) {
  std::set<Interned> accounts;
  for (const model::EndpointShard& shard : shards) {
    for (const model::Endpoint& endpoint : shard.endpoints) {
      if (!endpoint.workload->service_account.empty()) accounts.insert(endpoint.workload->service_account);
    }
  }
  std::vector<std::string> texts;
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

void Registries::State::UpdateEndpoints() {
  const absl::flat_hash_set<model::ServiceKey> changed = services.TakeChanged();
  output.changes.services = !changed.empty();
  // Targets point to services, which a new alias replaces.
  for (const model::ServiceKey& key : changed) {
    if (entries.Has(key) || target_addresses.contains(key)) dirty_hosts.insert(key);
  }
  absl::flat_hash_map<model::ServiceKey, Name> keys;
  for (const model::ServiceKey& key : std::exchange(dirty_hosts, {})) {
    keys[key] = {key.second, KubernetesNameOf(key, *facts.settings)};
  }
  for (const Name& name : std::exchange(dirty_services, {}))
    keys[KubernetesRegistry::KeyOf(name, facts)] = name;
  for (const auto& [key, kubernetes_name] : keys) BuildEndpoints(key, kubernetes_name);
}

void Registries::State::BuildEndpoints(const model::ServiceKey& key, const Name& kubernetes_name) {
  model::ServiceEndpoints made;
  // In the order of the registries' names: External, Kubernetes.
  if (entries.Has(key) || target_addresses.contains(key)) {
    ServiceEntryRegistry::Shard shard = entries.BuildShard(key, selectable, services, facts);
    SetTargets(key, std::move(shard.targets));
    if (!shard.endpoints.endpoints.empty()) made.shards.push_back(std::move(shard.endpoints));
  }
  if (!kubernetes_name.second.empty()) {
    model::EndpointShard shard = kubernetes.BuildShard(kubernetes_name, pods, selectable, facts);
    if (!shard.endpoints.empty()) made.shards.push_back(std::move(shard));
    Report({Kind::kEndpointSlice, kubernetes_name.first, kubernetes_name.second},
           kubernetes.SliceProblems(kubernetes_name, pods));
  }
  ReportHostConflict(key, kubernetes_name);
  made.service_accounts = ServiceAccountsOf(made.shards);

  const auto old = output.endpoints.find(key);
  if (made.shards.empty()) {
    if (old == output.endpoints.end()) return;
    output.endpoints.erase(old);
  } else if (old == output.endpoints.end()) {
    output.endpoints.emplace(key, std::make_shared<const model::ServiceEndpoints>(std::move(made)));
  } else {
    if (*old->second == made) return;
    old->second = std::make_shared<const model::ServiceEndpoints>(std::move(made));
  }
  output.changes.endpoints.push_back(key);
}

void Registries::State::SetTargets(const model::ServiceKey& key,
                                   std::vector<std::pair<Interned, model::ExternalTarget>> targets) {
  const auto before = target_addresses.find(key);
  if (before == target_addresses.end() && targets.empty()) return;
  output.changes.external_targets = true;
  if (before != target_addresses.end()) {
    for (const Interned& address : before->second) {
      auto& list = output.external_targets[address];
      std::erase_if(list, [&](const model::ExternalTarget& t) {
        return t.service->hostname == key.first && t.service->ns == key.second;
      });
      if (list.empty()) output.external_targets.erase(address);
    }
    target_addresses.erase(before);
  }
  if (targets.empty()) return;
  std::vector<Interned>& addresses = target_addresses[key];
  for (auto& [address, target] : targets) {
    output.external_targets[address].push_back(std::move(target));
    addresses.push_back(address);
  }
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  for (const Interned& address : addresses) {
    auto& list = output.external_targets[address];
    std::stable_sort(list.begin(), list.end(), TargetOrder);
  }
}

void Registries::State::ReportHostConflict(const model::ServiceKey& key, const Name& kubernetes_name) {
  const bool conflict = entries.Has(key) && !kubernetes_name.second.empty() &&
                        kubernetes.FindService(kubernetes_name) != nullptr;
  const auto old = host_conflicts.find(key);
  if (conflict == (old != host_conflicts.end())) return;
  output.changes.diagnostics = true;
  if (!conflict) {
    host_conflicts.erase(old);
    return;
  }
  config::Diagnostic diagnostic;
  diagnostic.severity = config::Severity::kWarning;
  diagnostic.code = "host-conflict";
  diagnostic.object = config::ObjectKey{Kind::kService, kubernetes_name.first, kubernetes_name.second};
  diagnostic.message = StrCat("a ServiceEntry of namespace ", key.second.str(), " has the host ",
                              key.first.str(), " too: the Service's ports count, the endpoints are joined");
  host_conflicts.emplace(key, std::move(diagnostic));
}

}  // namespace fairlead::registry
