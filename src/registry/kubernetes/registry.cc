#include "registry/kubernetes/registry.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "config/kubernetes_types.h"
#include "registry/kubernetes/network_gateways.h"
#include "registry/kubernetes/service.h"

namespace fairlead::registry {
namespace {

void MarkAll(const absl::flat_hash_map<Name, std::vector<Name>>& users, const Name& key,
             KubernetesRegistry::Dirty* dirty) {
  if (const auto it = users.find(key); it != users.end()) dirty->insert(it->second.begin(), it->second.end());
}

config::Diagnostic Problem(const config::ConfigObject& slice, std::string_view code, std::string path,
                           std::string message) {
  config::Diagnostic diagnostic;
  diagnostic.severity = config::Severity::kWarning;
  diagnostic.code = code;
  diagnostic.file = slice.origin().file.str();
  diagnostic.line = slice.origin().line;
  diagnostic.object = config::KeyOf(slice);
  diagnostic.path = std::move(path);
  diagnostic.message = std::move(message);
  return diagnostic;
}

}  // namespace

void KubernetesRegistry::SetService(const Name& name, const config::ConfigPtr& object,
                                    const LabelMap* namespace_annotations, const MeshFacts& facts,
                                    ServiceTable* services, Dirty* dirty) {
  const config::ObjectKey key{config::Kind::kService, name.first, name.second};
  model::ServicePtr service;
  if (object == nullptr) {
    services->Set(key, {});
  } else {
    std::vector<model::Service> made;
    made.push_back(ConvertKubernetesService(object, namespace_annotations, *facts.settings));
    services->Set(key, std::move(made));
    service = services->Of(key).front();
  }
  Record& record = services_[name];
  if (record.service == service) return DropIfEmpty(name);
  record.service = service;
  dirty->insert(name);
  if (service != nullptr) {
    names_by_namespace_[name.first].insert(name.second);
  } else if (const auto it = names_by_namespace_.find(name.first); it != names_by_namespace_.end()) {
    it->second.erase(name.second);
    if (it->second.empty()) names_by_namespace_.erase(it);
  }
  DropIfEmpty(name);
}

void KubernetesRegistry::DropIfEmpty(const Name& name) {
  const auto it = services_.find(name);
  if (it != services_.end() && it->second.service == nullptr && it->second.slices.empty())
    services_.erase(it);
}

void KubernetesRegistry::SetSlice(const Name& name, const config::ConfigPtr& object, Dirty* dirty) {
  if (const auto it = slices_.find(name); it != slices_.end()) {
    const Slice old = std::move(it->second);
    slices_.erase(it);
    if (old.object == object) {
      slices_.emplace(name, old);
      return;
    }
    Unlink(old);
    services_[old.service].slices.erase(name.second);
    dirty->insert(old.service);
    DropIfEmpty(old.service);
  }
  if (object == nullptr) return;
  const Slice slice{object, ServiceOfSlice(*object)};
  if (slice.service.second.empty()) return;
  slices_.emplace(name, slice);
  services_[slice.service].slices[name.second] = object;
  Link(slice);
  dirty->insert(slice.service);
}

void KubernetesRegistry::Link(const Slice& slice) {
  for (const PodLookup& lookup : PodLookupsOf(*slice.object)) {
    (lookup.by_name ? users_of_pod_ : users_of_address_)[lookup.key].push_back(slice.service);
  }
}

void KubernetesRegistry::Unlink(const Slice& slice) {
  for (const PodLookup& lookup : PodLookupsOf(*slice.object)) {
    Users& users = lookup.by_name ? users_of_pod_ : users_of_address_;
    const auto it = users.find(lookup.key);
    if (it == users.end()) continue;
    const auto use = std::find(it->second.begin(), it->second.end(), slice.service);
    if (use != it->second.end()) it->second.erase(use);
    if (it->second.empty()) users.erase(it);
  }
}

void KubernetesRegistry::MarkUsersOfPod(const Name& pod, Dirty* dirty) const {
  MarkAll(users_of_pod_, pod, dirty);
}

void KubernetesRegistry::MarkUsersOfAddress(const Interned& ns, const Interned& address, Dirty* dirty) const {
  MarkAll(users_of_address_, {ns, address}, dirty);
}

void KubernetesRegistry::MarkSelecting(const Interned& ns, const LabelMap& labels, Dirty* dirty) const {
  for (const Name& name : ServicesIn(ns)) {
    const model::Service& service = *services_.at(name).service;
    if (!service.selector.empty() && SelectorMatches(service.selector, labels)) dirty->insert(name);
  }
}

model::ServiceKey KubernetesRegistry::KeyOf(const Name& name, const MeshFacts& facts) {
  return {KubernetesHostname(name.second.str(), name.first.str(), facts.settings->domain), name.first};
}

model::ServicePtr KubernetesRegistry::FindService(const Name& name) const {
  const auto it = services_.find(name);
  return it == services_.end() ? nullptr : it->second.service;
}

model::EndpointShard KubernetesRegistry::BuildShard(const Name& name, const PodIndex& pods,
                                                    const SelectableIndex& workloads,
                                                    const MeshFacts& facts) {
  model::EndpointShard shard;
  shard.cluster = facts.cluster;
  shard.registry = static_cast<uint8_t>(model::Registry::kKubernetes);
  const auto it = services_.find(name);
  if (it == services_.end()) return shard;
  const Record& record = it->second;
  shard.endpoints = BuildSliceEndpoints(record.slices, record.service.get(), pods, podless_, facts);
  if (record.service != nullptr) AppendSelectedEntries(*record.service, workloads, &shard.endpoints);
  return shard;
}

std::vector<Name> KubernetesRegistry::ServicesIn(const Interned& ns) const {
  std::vector<Name> names;
  const auto it = names_by_namespace_.find(ns);
  if (it == names_by_namespace_.end()) return names;
  for (const Interned& name : it->second) names.emplace_back(ns, name);
  return names;
}

std::vector<Name> KubernetesRegistry::AllServices() const {
  std::vector<Name> names;
  for (const auto& [name, record] : services_) names.push_back(name);
  return names;
}

std::vector<Name> KubernetesRegistry::AllSlices() const {
  std::vector<Name> names;
  for (const auto& [name, slice] : slices_) names.push_back(name);
  return names;
}

std::vector<config::Diagnostic> KubernetesRegistry::SliceProblems(const Name& name,
                                                                  const PodIndex& pods) const {
  std::vector<config::Diagnostic> problems;
  const auto record = services_.find(name);
  if (record == services_.end()) return problems;
  for (const auto& [slice_name, slice] : record->second.slices) {
    const auto& spec = slice->Spec<config::EndpointSliceSpec>();
    if (spec.address_type == "FQDN") {
      problems.push_back(Problem(*slice, "fqdn-slice", "addressType", "slices of type FQDN are not read"));
      continue;
    }
    for (size_t i = 0; i < spec.endpoints.size(); ++i) {
      const auto& target = spec.endpoints[i].target;
      if (!target || target->kind != "Pod" || pods.Find({target->ns, target->name}) != nullptr) continue;
      problems.push_back(Problem(*slice, "missing-pod", StrCat("endpoints[", i, "].targetRef"),
                                 StrCat("there is no Pod ", target->ns, "/", target->name,
                                        "; the endpoint is left out until there is")));
    }
  }
  return problems;
}

void KubernetesRegistry::AppendNetworkGateways(const config::ObjectStore& store, const MeshFacts& facts,
                                               std::vector<model::NetworkGateway>* gateways) const {
  for (const auto& [name, record] : services_) {
    if (record.service != nullptr) AppendGatewaysOfService(*record.service, store, facts, gateways);
  }
}

}  // namespace fairlead::registry
