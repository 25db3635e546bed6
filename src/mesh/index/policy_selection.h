#ifndef FAIRLEAD_MESH_INDEX_POLICY_SELECTION_H_
#define FAIRLEAD_MESH_INDEX_POLICY_SELECTION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/interned.h"
#include "base/labels.h"
#include "config/object.h"
#include "model/service.h"

// Which policies hold for a workload: one place for the rules of Istio. Policies are the objects that select
// workloads: AuthorizationPolicy, RequestAuthentication, PeerAuthentication, EnvoyFilter, WasmPlugin,
// TrafficExtension, Telemetry, ProxyConfig, Sidecar. Pure functions of immutable parts.
namespace fairlead::mesh {

// What a policy's targetRefs name. Source: istio.type.v1beta1.PolicyTargetReference.
struct PolicyTarget {
  Interned group;  // "" for Kubernetes' core group
  Interned kind, name;
  Interned ns;  // as written, mostly ""
  friend bool operator==(const PolicyTarget&, const PolicyTarget&) = default;
};

// A policy with what selection reads of it.
struct Policy {
  // Whom the policy is for in its namespace, as far as selectors say; what that is in terms of its message
  // differs from kind to kind.
  enum class Reach : uint8_t { kAll, kSelected, kNone };

  config::ConfigPtr object;
  Reach reach = Reach::kAll;
  LabelMap selector;                  // of kSelected
  std::vector<PolicyTarget> targets;  // where there are any, the selector does not count

  bool ForAll() const { return reach == Reach::kAll && targets.empty(); }
};

// The policies of one kind in one namespace. Immutable, shared by snapshots while they are the same objects.
struct NamespacePolicies {
  std::vector<Policy> policies;  // oldest first
  // The labels whose values decide which of them hold, sorted: none where all hold for everybody. For
  // waypoints the label of the gateway's name counts, too.
  std::vector<std::string> label_keys;
};
using NamespacePoliciesPtr = std::shared_ptr<const NamespacePolicies>;  // null: there are none

// Whom policies are selected for.
struct PolicySubject {
  std::string_view ns;
  const LabelMap& labels;
  bool waypoint = false;
  const model::Service* service = nullptr;  // of a waypoint: the one that a filter chain is for, or null
  // Whether policies without targetRefs hold for gateways of the Gateway API
  // (Features::selectors_of_gateways).
  bool selectors_of_gateways = true;
};

// The parts of one kind in which a subject's policies are.
struct PolicyParts {
  NamespacePoliciesPtr root;        // of the root namespace
  NamespacePoliciesPtr own;         // of the subject's; null where that is the root namespace
  NamespacePoliciesPtr of_service;  // of its service's; null where that is one of the two
  bool in_root = false;             // the subject lives in the root namespace
};

// The policies of a kind that hold for the subject, in the order in which they count: mesh-wide ones first,
// then its namespace's, then those that select it. Of each part the oldest first. Of kinds of which one alone
// counts (Sidecar), that one or none.
std::vector<config::ConfigPtr> SelectPolicies(config::Kind kind, const PolicyParts& parts,
                                              const PolicySubject& subject);

// The labels that SelectPolicies looks at, sorted: subjects that agree in them, and in everything but labels,
// get the same policies.
std::vector<std::string> PolicyLabelKeys(config::Kind kind, const PolicyParts& parts, bool waypoint,
                                         bool selectors_of_gateways = true);

// The label that makes a workload an instance of a Kubernetes Gateway.
inline constexpr std::string_view kGatewayNameLabel = "gateway.networking.k8s.io/gateway-name";

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_POLICY_SELECTION_H_
