#include "mesh/index/policy_index.h"

#include <algorithm>
#include <set>
#include <utility>

#include "istio/extensions/v1alpha1/traffic_extension.pb.h"
#include "istio/extensions/v1alpha1/wasm.pb.h"
#include "istio/networking/v1alpha3/envoy_filter.pb.h"
#include "istio/networking/v1alpha3/sidecar.pb.h"
#include "istio/networking/v1beta1/proxy_config.pb.h"
#include "istio/security/v1beta1/authorization_policy.pb.h"
#include "istio/security/v1beta1/peer_authentication.pb.h"
#include "istio/security/v1beta1/request_authentication.pb.h"
#include "istio/telemetry/v1alpha1/telemetry.pb.h"
#include "mesh/index/object_index_builder.h"

namespace fairlead::mesh {
namespace {

using config::ConfigPtr;
using config::Kind;
using istio::networking::v1alpha3::EnvoyFilter;
using istio::networking::v1alpha3::Sidecar;
using istio::type::v1beta1::PolicyTargetReference;

// A selector without labels is one for all, unless the kind's case below says otherwise.
template <typename Labels>
void SetSelector(const Labels& labels, Policy* out) {
  out->selector.insert(labels.begin(), labels.end());
  out->reach = labels.empty() ? Policy::Reach::kAll : Policy::Reach::kSelected;
}

void AddTarget(const PolicyTargetReference& reference, Policy* out) {
  const std::string& group = reference.group();
  out->targets.push_back({group == "core" ? Interned() : Interned(group), reference.kind(), reference.name(),
                          reference.namespace_()});
}

template <typename Spec>
void SetSelectorAndTargets(const Spec& spec, Policy* out) {
  SetSelector(spec.selector().match_labels(), out);
  for (const PolicyTargetReference& reference : spec.targetrefs()) AddTarget(reference, out);
}

// Of kinds that have the old single targetRef besides.
template <typename Spec>
void Digest(const Spec& spec, Policy* out) {
  SetSelectorAndTargets(spec, out);
  if (out->targets.empty() && spec.has_targetref()) AddTarget(spec.targetref(), out);
}

void DigestEnvoyFilter(const EnvoyFilter& spec, Policy* out) {
  SetSelector(spec.workload_selector().labels(), out);
  for (const PolicyTargetReference& reference : spec.targetrefs()) AddTarget(reference, out);
}

// A selector without labels is neither for the namespace nor for any workload of it.
void DigestProxyConfig(const istio::networking::v1beta1::ProxyConfig& spec, Policy* out) {
  SetSelector(spec.selector().match_labels(), out);
  if (spec.has_selector() && out->selector.empty()) out->reach = Policy::Reach::kNone;
}

// A selector without labels selects everybody, and so comes before a Sidecar that has none.
void DigestSidecar(const Sidecar& spec, Policy* out) {
  SetSelector(spec.workload_selector().labels(), out);
  if (spec.has_workload_selector()) out->reach = Policy::Reach::kSelected;
}

std::vector<std::string> LabelKeysOf(const std::vector<Policy>& policies) {
  std::set<std::string> keys;
  for (const Policy& policy : policies) {
    for (const auto& [key, value] : policy.selector) keys.insert(key);
    if (!policy.targets.empty()) keys.emplace(kGatewayNameLabel);
  }
  return {keys.begin(), keys.end()};
}

NamespacePoliciesPtr MakePart(const std::vector<ConfigPtr>& objects, NamespacePoliciesPtr previous) {
  const bool same =
      previous != nullptr &&
      std::equal(objects.begin(), objects.end(), previous->policies.begin(), previous->policies.end(),
                 [](const ConfigPtr& object, const Policy& p) { return object == p.object; });
  if (same) return previous;
  auto part = std::make_shared<NamespacePolicies>();
  for (const ConfigPtr& object : objects) part->policies.push_back(DigestPolicy(object));
  part->label_keys = LabelKeysOf(part->policies);
  return part;
}

}  // namespace

Policy DigestPolicy(const ConfigPtr& object) {
  Policy policy;
  policy.object = object;
  switch (object->kind()) {
    case Kind::kAuthorizationPolicy:
      Digest(object->Spec<istio::security::v1beta1::AuthorizationPolicy>(), &policy);
      break;
    case Kind::kRequestAuthentication:
      Digest(object->Spec<istio::security::v1beta1::RequestAuthentication>(), &policy);
      break;
    case Kind::kTelemetry:
      Digest(object->Spec<istio::telemetry::v1alpha1::Telemetry>(), &policy);
      break;
    case Kind::kWasmPlugin:
      Digest(object->Spec<istio::extensions::v1alpha1::WasmPlugin>(), &policy);
      break;
    case Kind::kTrafficExtension:
      SetSelectorAndTargets(object->Spec<istio::extensions::v1alpha1::TrafficExtension>(), &policy);
      break;
    case Kind::kPeerAuthentication:
      SetSelector(object->Spec<istio::security::v1beta1::PeerAuthentication>().selector().match_labels(),
                  &policy);
      break;
    case Kind::kEnvoyFilter:
      DigestEnvoyFilter(object->Spec<EnvoyFilter>(), &policy);
      break;
    case Kind::kProxyConfig:
      DigestProxyConfig(object->Spec<istio::networking::v1beta1::ProxyConfig>(), &policy);
      break;
    case Kind::kSidecar:
      DigestSidecar(object->Spec<Sidecar>(), &policy);
      break;
    default:
      break;
  }
  return policy;
}

const std::vector<Kind>& PolicyIndexBuilder::Kinds() {
  static const auto* kinds =
      new std::vector<Kind>{Kind::kSidecar,    Kind::kEnvoyFilter,        Kind::kProxyConfig,
                            Kind::kTelemetry,  Kind::kPeerAuthentication, Kind::kRequestAuthentication,
                            Kind::kWasmPlugin, Kind::kTrafficExtension,   Kind::kAuthorizationPolicy};
  return *kinds;
}

std::shared_ptr<const PolicyIndex> PolicyIndexBuilder::Build(
    const config::ObjectStore& store, const Interned& root_namespace, const std::vector<Kind>& changed,
    const std::shared_ptr<const PolicyIndex>& previous) {
  auto index =
      previous == nullptr ? std::make_shared<PolicyIndex>() : std::make_shared<PolicyIndex>(*previous);
  bool same = previous != nullptr && previous->root_namespace_ == root_namespace;
  index->root_namespace_ = root_namespace;
  for (Kind kind : changed) {
    StringMap<std::vector<ConfigPtr>> objects;
    for (const ConfigPtr& object : OldestFirst(store, kind)) objects[object->ns().str()].push_back(object);
    auto parts = std::make_shared<StringMap<NamespacePoliciesPtr>>();
    for (const auto& [ns, of_namespace] : objects) {
      parts->emplace(ns, MakePart(of_namespace, index->Part(kind, ns)));
    }
    if (index->All(kind) == *parts) continue;
    same = false;
    index->by_kind_[static_cast<size_t>(kind)] = std::move(parts);
  }
  return same ? previous : index;
}

const StringMap<NamespacePoliciesPtr>& PolicyIndex::All(Kind kind) const {
  static const auto* none = new StringMap<NamespacePoliciesPtr>();
  const OfKind& parts = by_kind_[static_cast<size_t>(kind)];
  return parts == nullptr ? *none : *parts;
}

NamespacePoliciesPtr PolicyIndex::Part(Kind kind, std::string_view ns) const {
  const StringMap<NamespacePoliciesPtr>& all = All(kind);
  const auto found = all.find(ns);
  return found == all.end() ? nullptr : found->second;
}

PolicyParts PolicyIndex::PartsFor(Kind kind, const PolicySubject& subject) const {
  PolicyParts parts;
  parts.root = Part(kind, root_namespace_);
  parts.in_root = subject.ns == root_namespace_;
  if (!parts.in_root) parts.own = Part(kind, subject.ns);
  if (!subject.waypoint || subject.service == nullptr) return parts;
  const Interned& ns = subject.service->ns;
  if (ns != root_namespace_ && ns != subject.ns) parts.of_service = Part(kind, ns);
  return parts;
}

}  // namespace fairlead::mesh
