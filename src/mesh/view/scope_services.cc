#include "mesh/view/scope_services.h"

#include <utility>

namespace fairlead::mesh {
namespace {

using model::Registry;
using model::ServicePtr;

bool IsKubernetes(const ServicePtr& service) { return service->registry == Registry::kKubernetes; }

bool SamePorts(const std::vector<model::ServicePort>& a, const std::vector<model::ServicePort>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].name != b[i].name || a[i].port != b[i].port || a[i].protocol != b[i].protocol) return false;
  }
  return true;
}

// Whether two services of one hostname are the same but for their ports.
bool Mergeable(const model::Service& a, const model::Service& b) {
  return a.ns == b.ns && a.resolution == b.resolution && a.registry == b.registry && a.labels == b.labels &&
         a.selector == b.selector && a.visibility == b.visibility;
}

}  // namespace

void KeepOneNamespacePerHost(std::string_view client_ns, std::vector<ServicePtr>* services) {
  absl::flat_hash_map<Interned, const model::Service*> chosen;
  chosen.reserve(services->size());
  bool contested = false;
  for (const ServicePtr& service : *services) {
    const auto [it, is_new] = chosen.try_emplace(service->hostname, service.get());
    if (is_new) continue;
    contested = true;
    const model::Service& rival = *it->second;
    const bool kubernetes_first = rival.registry != Registry::kKubernetes && IsKubernetes(service);
    if (service->ns == client_ns || (kubernetes_first && !(rival.ns == client_ns)))
      it->second = service.get();
  }
  if (!contested) return;
  std::erase_if(*services,
                [&chosen](const ServicePtr& s) { return !(chosen.find(s->hostname)->second->ns == s->ns); });
}

ServicePtr BestVisible(const std::vector<ServicePtr>& candidates, std::string_view client_ns) {
  ServicePtr best;
  for (const ServicePtr& candidate : candidates) {
    if (!candidate->visibility.VisibleIn(client_ns)) continue;
    if (IsKubernetes(candidate)) return candidate;
    if (best == nullptr || candidate->creation_time < best->creation_time) best = candidate;
  }
  return best;
}

void ScopeServices::Reserve(size_t count) {
  scope_->services.reserve(count);
  scope_->services_by_host.reserve(count);
  positions_.reserve(count);
}

void ScopeServices::Add(const ServicePtr& service) {
  const auto [it, is_new] = positions_.try_emplace(service->hostname, scope_->services.size());
  if (is_new) {
    scope_->services.push_back(service);
    scope_->services_by_host.emplace(std::string_view(service->hostname), service);
    return;
  }
  const ServicePtr existing = scope_->services[it->second];
  if (service == existing) return;
  if (IsKubernetes(existing) != IsKubernetes(service)) {
    if (IsKubernetes(service)) Replace(it->second, service);
    return;
  }
  if (SamePorts(existing->ports, service->ports) || !Mergeable(*existing, *service)) return;
  Replace(it->second, variants_->WithPortsOf(existing, service));
}

void ScopeServices::Replace(size_t position, const ServicePtr& service) {
  // The key is a view of the replaced service's hostname: interned, and so the same text as the new one's.
  scope_->services_by_host[std::string_view(service->hostname)] = service;
  scope_->services[position] = service;
}

}  // namespace fairlead::mesh
