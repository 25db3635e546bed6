#include "mesh/scope_reads.h"

#include <algorithm>
#include <functional>

#include "mesh/scope_services.h"
#include "mesh/service_index.h"

namespace fairlead::mesh {
namespace {

using model::ServicePtr;

// Whether each part that was read is the same in an index now; `part` gives an index's part by its name.
template <typename Parts, typename Part>
bool SameParts(const Parts& read, Part part) {
  return std::all_of(read.begin(), read.end(),
                     [&part](const auto& entry) { return part(entry.first) == entry.second; });
}

}  // namespace

ScopeReads::ScopeReads(const MeshSnapshot& snapshot, std::string_view ns)
    : snapshot_(&snapshot), ns_(ns), settings_(snapshot.settings) {}

// What is implied by a whole index is not needed besides; nor is an old index kept for its parts.
void ScopeReads::Finish() {
  snapshot_ = nullptr;
  if (services_ != nullptr) {
    services_in_.clear();
    destinations_.clear();
  }
  if (virtual_services_ != nullptr) virtual_services_in_.clear();
}

bool ScopeReads::Hold(const MeshSnapshot& now) const {
  if (now.settings != settings_) return false;
  if (services_ != nullptr && now.services != services_) return false;
  if (virtual_services_ != nullptr && now.virtual_services != virtual_services_) return false;
  return SameParts(services_in_, [&](const std::string& ns) { return now.services->Namespace(ns); }) &&
         SameParts(destinations_, [&](const std::string& host) { return ResolveDestination(now, host); }) &&
         SameParts(virtual_services_in_,
                   [&](const std::string& ns) { return now.virtual_services->OfMeshIn(ns); }) &&
         SameParts(rules_in_, [&](const Interned& ns) { return now.destination_rules->Namespace(ns); });
}

const NamespaceServices* ScopeReads::ServicesIn(std::string_view ns) {
  const auto [it, is_new] = services_in_.try_emplace(std::string(ns));
  if (is_new) it->second = snapshot_->services->Namespace(ns);
  return it->second.get();
}

ServiceIndex::Services ScopeReads::VisibleServices() {
  services_ = snapshot_->services;
  return services_->VisibleIn(ns_);
}

ServiceIndex::Services ScopeReads::VisibleServices(const std::vector<std::string_view>& from) {
  ServiceIndex::Services visible;
  for (std::string_view ns : from) {
    const NamespaceServices* of_namespace = ServicesIn(ns);
    if (of_namespace == nullptr) continue;
    std::copy_if(of_namespace->all.begin(), of_namespace->all.end(), std::back_inserter(visible),
                 [this](const ServicePtr& service) { return service->visibility.VisibleIn(ns_); });
  }
  std::sort(visible.begin(), visible.end(), [](const ServicePtr& a, const ServicePtr& b) {
    if (a->visibility.everywhere != b->visibility.everywhere) return b->visibility.everywhere;
    return ServiceBefore(a, b);
  });
  return visible;
}

ServicePtr ScopeReads::FindService(std::string_view hostname, std::string_view from) {
  ServicesIn(from);
  return snapshot_->services->Find(hostname, from);
}

ServicePtr ScopeReads::ResolveDestination(const MeshSnapshot& snapshot, std::string_view host) const {
  const ServiceIndex::Services& of_host = snapshot.services->ByHost(host);
  const auto own = std::find_if(of_host.begin(), of_host.end(),
                                [this](const ServicePtr& service) { return service->ns == ns_; });
  return own != of_host.end() ? *own : BestVisible(of_host, ns_);
}

ServicePtr ScopeReads::Destination(const std::string& host) {
  // In the own namespace exportTo does not matter.
  ServicePtr service = ResolveDestination(*snapshot_, host);
  ServicesIn(ns_);
  if (service == nullptr || !(service->ns == ns_)) destinations_.emplace(host, service);
  return service;
}

VirtualServiceIndex::List ScopeReads::CompetingVirtualServices() {
  virtual_services_ = snapshot_->virtual_services;
  return virtual_services_->VisibleIn(ns_, "mesh");
}

VirtualServiceIndex::List ScopeReads::VisibleVirtualServices() {
  virtual_services_ = snapshot_->virtual_services;
  VirtualServiceIndex::List visible;
  for (const VirtualServiceIndex::List* group : virtual_services_->GroupsFor(ns_, "mesh")) {
    const auto own_route = [this](const VirtualServicePtr& v) {
      return v->gateway_semantics && v->object->ns() == ns_;
    };
    std::copy_if(group->begin(), group->end(), std::back_inserter(visible), own_route);
    std::copy_if(group->begin(), group->end(), std::back_inserter(visible), std::not_fn(own_route));
  }
  return visible;
}

VirtualServiceIndex::List ScopeReads::VisibleVirtualServices(const std::vector<std::string_view>& from) {
  struct Ranked {
    int group;       // of VirtualServiceIndex::GroupsFor
    bool after_own;  // the namespace's own Gateway API routes go first
    VirtualServicePtr virtual_service;
  };
  std::vector<Ranked> ranked;
  for (std::string_view ns : from) {
    const auto [it, is_new] = virtual_services_in_.try_emplace(std::string(ns));
    if (is_new) it->second = snapshot_->virtual_services->OfMeshIn(ns);
    if (it->second == nullptr) continue;
    const bool own = ns_ == ns;
    for (const VirtualServicePtr& v : *it->second) {
      if (!v->visibility.VisibleIn(ns_)) continue;
      ranked.push_back({v->visibility.everywhere ? 2 : own ? 0 : 1, !(own && v->gateway_semantics), v});
    }
  }
  std::sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) {
    if (a.group != b.group) return a.group < b.group;
    if (a.after_own != b.after_own) return b.after_own;
    return config::OlderFirst(*a.virtual_service->object, *b.virtual_service->object);
  });
  VirtualServiceIndex::List visible;
  visible.reserve(ranked.size());
  for (Ranked& entry : ranked) visible.push_back(std::move(entry.virtual_service));
  return visible;
}

const NamespaceRules* ScopeReads::RulesIn(const Interned& ns) {
  const auto [it, is_new] = rules_in_.try_emplace(ns);
  if (is_new) it->second = snapshot_->destination_rules->Namespace(ns);
  return it->second.get();
}

DestinationRuleIndex::List ScopeReads::Rules(const model::Service& service) {
  const Interned& root = snapshot_->destination_rules->root_namespace();
  return DestinationRuleIndex::LookupIn(RulesIn(ns_), RulesIn(service.ns), RulesIn(root), root == ns_, ns_,
                                        service.hostname);
}

}  // namespace fairlead::mesh
