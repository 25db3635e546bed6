#include "mesh/index/policy_selection.h"

#include <algorithm>
#include <set>

namespace fairlead::mesh {
namespace {

using config::ConfigPtr;
using config::Kind;
using Selected = std::vector<ConfigPtr>;

// How the policies of a kind come together for a workload.
enum class Rule : uint8_t {
  // All that are attached to it, of the root namespace and its own.
  kEveryAttached,
  // The root namespace's and its own for all workloads, the oldest of each; then its own that select it.
  kLayers,
  // The same, but of those that select it the oldest alone. Kinds without targetRefs.
  kLayersOfOne,
  // The oldest of its own that selects it, else the oldest of its own for all, else the root namespace's.
  kNearest,
};

// Sources: Istio's ListAuthorizationPolicies, getConfigsForWorkload, EnvoyFilters,
// TrafficExtensionsByListenerInfo; applicableTelemetries; ComposePeerAuthentication, EffectiveProxyConfig;
// the API description of Sidecar.
Rule RuleOf(Kind kind) {
  switch (kind) {
    case Kind::kTelemetry:
      return Rule::kLayers;
    case Kind::kPeerAuthentication:
    case Kind::kProxyConfig:
      return Rule::kLayersOfOne;
    case Kind::kSidecar:
      return Rule::kNearest;
    default:
      return Rule::kEveryAttached;
  }
}

bool Selects(const Policy& policy, const LabelMap& labels) {
  return policy.reach == Policy::Reach::kSelected && SelectorMatches(policy.selector, labels);
}

bool Reaches(const Policy& policy, const LabelMap& labels) {
  return policy.reach == Policy::Reach::kAll || Selects(policy, labels);
}

// Whether the target is the service that a waypoint's filter chain is for.
bool IsService(const PolicyTarget& target, const Interned& policy_ns, const model::Service& service) {
  const bool kubernetes = service.registry == model::Registry::kKubernetes;
  const bool right_kind = kubernetes ? target.group.empty() && target.kind == "Service"
                                     : target.group == "networking.istio.io" && target.kind == "ServiceEntry";
  if (!right_kind || policy_ns != service.ns) return false;
  return service.source == nullptr ? target.name == service.name : target.name == service.source->name();
}

bool IsTarget(const PolicyTarget& target, const Policy& policy, bool of_root, std::string_view gateway,
              const PolicySubject& subject) {
  const Interned& ns = policy.object->ns();
  if (subject.waypoint && subject.service != nullptr && IsService(target, ns, *subject.service)) return true;
  if (target.group != "gateway.networking.k8s.io") return false;
  if (subject.waypoint && of_root && target.kind == "GatewayClass" && target.name == "istio-waypoint") {
    return true;
  }
  const bool here = subject.ns == ns && (target.ns.empty() || target.ns == ns);
  return here && target.kind == "Gateway" && target.name == gateway;
}

// Whether a policy is attached to the subject; selectors never count for waypoints. Source: Istio's
// ShouldAttachPolicy.
bool Attached(const Policy& policy, bool of_root, const PolicySubject& subject) {
  const auto gateway = subject.labels.find(kGatewayNameLabel);
  if (gateway == subject.labels.end()) return policy.targets.empty() && Reaches(policy, subject.labels);
  if (policy.targets.empty()) {
    return !subject.waypoint && subject.selectors_of_gateways && Reaches(policy, subject.labels);
  }
  return std::any_of(policy.targets.begin(), policy.targets.end(), [&](const PolicyTarget& target) {
    return IsTarget(target, policy, of_root, gateway->second, subject);
  });
}

void AddAttached(const NamespacePoliciesPtr& part, bool of_root, const PolicySubject& subject,
                 Selected* out) {
  if (part == nullptr) return;
  // Without selectors and targets labels are not looked at.
  const bool all = part->label_keys.empty() && !subject.waypoint && subject.selectors_of_gateways;
  for (const Policy& policy : part->policies) {
    if (all || Attached(policy, of_root, subject)) out->push_back(policy.object);
  }
}

void AddForAll(const NamespacePoliciesPtr& part, Selected* out) {
  if (part == nullptr) return;
  const auto found = std::find_if(part->policies.begin(), part->policies.end(),
                                  [](const Policy& policy) { return policy.ForAll(); });
  if (found != part->policies.end()) out->push_back(found->object);
}

// Where the policies that select a workload are: those of the root namespace select its own workloads alone.
const NamespacePoliciesPtr& OwnPart(const PolicyParts& parts) {
  return parts.in_root ? parts.root : parts.own;
}

void AddLayers(const PolicyParts& parts, const PolicySubject& subject, Selected* out) {
  AddForAll(parts.root, out);
  AddForAll(parts.own, out);
  AddForAll(parts.of_service, out);
  // A waypoint's service of another namespace brings the policies of that namespace in place of its own.
  const bool elsewhere = subject.waypoint && subject.service != nullptr && subject.service->ns != subject.ns;
  const bool service_in_root = elsewhere && parts.of_service == nullptr;
  const NamespacePoliciesPtr& last = !elsewhere        ? OwnPart(parts)
                                     : service_in_root ? parts.root
                                                       : parts.of_service;
  if (last == nullptr) return;
  const bool of_root = last == parts.root;
  for (const Policy& policy : last->policies) {
    if (!policy.ForAll() && Attached(policy, of_root, subject)) out->push_back(policy.object);
  }
}

void AddLayersOfOne(const PolicyParts& parts, const PolicySubject& subject, bool root_selects,
                    Selected* out) {
  AddForAll(parts.root, out);
  AddForAll(parts.own, out);
  const NamespacePoliciesPtr& own = root_selects ? OwnPart(parts) : parts.own;
  if (own == nullptr) return;
  const auto found = std::find_if(own->policies.begin(), own->policies.end(),
                                  [&](const Policy& policy) { return Selects(policy, subject.labels); });
  if (found != own->policies.end()) out->push_back(found->object);
}

void AddNearest(const PolicyParts& parts, const PolicySubject& subject, Selected* out) {
  if (const NamespacePoliciesPtr& own = OwnPart(parts); own != nullptr) {
    const auto found = std::find_if(own->policies.begin(), own->policies.end(),
                                    [&](const Policy& policy) { return Selects(policy, subject.labels); });
    if (found != own->policies.end()) return out->push_back(found->object);
    AddForAll(own, out);
  }
  if (out->empty()) AddForAll(parts.root, out);
}

// Whether the root namespace's selectors count for its own workloads: those of a PeerAuthentication never do.
bool RootSelects(Kind kind) { return kind != Kind::kPeerAuthentication; }

}  // namespace

Selected SelectPolicies(Kind kind, const PolicyParts& parts, const PolicySubject& subject) {
  Selected out;
  switch (RuleOf(kind)) {
    case Rule::kEveryAttached:
      AddAttached(parts.root, true, subject, &out);
      AddAttached(parts.own, false, subject, &out);
      AddAttached(parts.of_service, false, subject, &out);
      break;
    case Rule::kLayers:
      AddLayers(parts, subject, &out);
      break;
    case Rule::kLayersOfOne:
      AddLayersOfOne(parts, subject, RootSelects(kind), &out);
      break;
    case Rule::kNearest:
      AddNearest(parts, subject, &out);
      break;
  }
  return out;
}

std::vector<std::string> PolicyLabelKeys(Kind kind, const PolicyParts& parts, bool waypoint,
                                         bool selectors_of_gateways) {
  std::set<std::string> keys;
  const bool root_counts =
      RuleOf(kind) == Rule::kEveryAttached || waypoint || (parts.in_root && RootSelects(kind));
  const auto add = [&](const NamespacePoliciesPtr& part) {
    if (part == nullptr) return;
    keys.insert(part->label_keys.begin(), part->label_keys.end());
    if (waypoint || !selectors_of_gateways) keys.emplace(kGatewayNameLabel);
  };
  if (root_counts) add(parts.root);
  add(parts.own);
  add(parts.of_service);
  return {keys.begin(), keys.end()};
}

}  // namespace fairlead::mesh
