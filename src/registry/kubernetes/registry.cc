#include "registry/kubernetes/registry.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "config/kubernetes_types.h"
#include "registry/kubernetes/network_gateways.h"
#include "registry/kubernetes/service.h"

namespace fairlead::registry {
namespace {

void MarkAll(const ShardedMap<Name, std::vector<Name>>& users, const Name& key,
             KubernetesRegistry::Dirty* dirty) {
  if (const auto* of_key = users.Find(key)) dirty->insert(of_key->begin(), of_key->end());
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
  const config::ObjectKey key{config::Kind::kService, name.first, name.second, facts.object_cluster};
  model::ServicePtr service;
  if (object == nullptr) {
    services->Set(key, {});
  } else {
    std::vector<model::Service> made;
    made.push_back(ConvertKubernetesService(object, namespace_annotations, *facts.settings));
    services->Set(key, std::move(made));
    service = services->PlainOf(key);
  }
  if (FindService(name) == service) return;
  services_[name].service = service;
  dirty->insert(name);
  if (service != nullptr) {
    with_object_.Set(name, service);
  } else {
    with_object_.Erase(name);
  }
  DropIfEmpty(name);
}

void KubernetesRegistry::DropIfEmpty(const Name& name) {
  const Record* record = services_.Find(name);
  if (record != nullptr && record->service == nullptr && record->slices.empty()) services_.Erase(name);
}

void KubernetesRegistry::SetSlice(const Name& name, const config::ConfigPtr& object, Dirty* dirty) {
  if (const Slice* known = slices_.Find(name)) {
    if (known->object == object) return;
    const Slice old = *known;
    slices_.Erase(name);
    Unlink(old);
    services_[old.service].slices.erase(name.second);
    dirty->insert(old.service);
    DropIfEmpty(old.service);
  }
  if (object == nullptr) return;
  const Slice slice{object, ServiceOfSlice(*object)};
  if (slice.service.second.empty()) return;
  slices_[name] = slice;
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
    if (!users.contains(lookup.key)) continue;
    std::vector<Name>& of_key = users[lookup.key];
    const auto use = std::find(of_key.begin(), of_key.end(), slice.service);
    if (use != of_key.end()) of_key.erase(use);
    if (of_key.empty()) users.Erase(lookup.key);
  }
}

void KubernetesRegistry::MarkUsersOfPod(const Name& pod, Dirty* dirty) const {
  MarkAll(users_of_pod_, pod, dirty);
}

void KubernetesRegistry::MarkUsersOfAddress(const Interned& ns, const Interned& address, Dirty* dirty) const {
  MarkAll(users_of_address_, Name{ns, address}, dirty);
}

void KubernetesRegistry::MarkSelecting(const Interned& ns, const LabelMap& labels, Dirty* dirty) const {
  for (auto it = with_object_.LowerBound({ns, {}}); it != with_object_.end() && it->first.first == ns; ++it) {
    const model::Service& service = *it->second;
    if (!service.selector.empty() && SelectorMatches(service.selector, labels)) dirty->insert(it->first);
  }
}

model::ServiceKey KubernetesRegistry::KeyOf(const Name& name, const MeshFacts& facts) {
  return {KubernetesHostname(name.second.str(), name.first.str(), facts.settings->domain), name.first};
}

model::ServicePtr KubernetesRegistry::FindService(const Name& name) const {
  const Record* record = services_.Find(name);
  return record == nullptr ? nullptr : record->service;
}

model::EndpointShard KubernetesRegistry::BuildShard(const Name& name, const model::Service* service,
                                                    bool own_cluster_only, const PodIndex& pods,
                                                    const SelectableIndex& workloads,
                                                    const MeshFacts& facts) {
  model::EndpointShard shard;
  shard.cluster = facts.cluster;
  shard.registry = static_cast<uint8_t>(model::Registry::kKubernetes);
  const Record* record = services_.Find(name);
  if (record == nullptr) return shard;
  shard.endpoints = BuildSliceEndpoints(record->slices, service, pods, podless_, facts);
  if (own_cluster_only) {
    for (model::Endpoint& endpoint : shard.endpoints) endpoint.own_cluster_only = true;
  }
  // A service selects WorkloadEntries of its own cluster.
  if (service != nullptr && facts.settings->features.services_select_entries)
    AppendSelectedEntries(*service, facts.object_cluster, workloads, &shard.endpoints);
  return shard;
}

std::vector<Name> KubernetesRegistry::ServicesIn(const Interned& ns) const {
  std::vector<Name> names;
  for (auto it = with_object_.LowerBound({ns, {}}); it != with_object_.end() && it->first.first == ns; ++it)
    names.push_back(it->first);
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
  const Record* record = services_.Find(name);
  if (record == nullptr) return problems;
  for (const auto& [slice_name, slice] : record->slices) {
    const auto& spec = slice->Spec<config::EndpointSliceSpec>();
    if (!Counts(spec, record->slices)) continue;
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
  for (const auto& [name, service] : with_object_) AppendGatewaysOfService(*service, store, facts, gateways);
}

}  // namespace fairlead::registry
