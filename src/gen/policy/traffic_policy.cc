#include "gen/policy/traffic_policy.h"

#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"

namespace fairlead::gen {
namespace {

// The four parts that a rule and a port of it may both set.
template <typename Policy>
EffectivePolicy SharedParts(const Policy& policy) {
  EffectivePolicy out;
  if (policy.has_connection_pool()) out.connection_pool = &policy.connection_pool();
  if (policy.has_outlier_detection()) out.outlier_detection = &policy.outlier_detection();
  if (policy.has_load_balancer()) out.load_balancer = &policy.load_balancer();
  if (policy.has_tls()) out.tls = &policy.tls();
  return out;
}

const api::TrafficPolicy::PortTrafficPolicy* FindPort(const api::TrafficPolicy& policy, uint32_t port) {
  for (const auto& settings : policy.port_level_settings()) {
    if (settings.has_port() && settings.port().number() == port) return &settings;
  }
  return nullptr;
}

}  // namespace

EffectivePolicy PolicyForPort(const api::TrafficPolicy* policy, uint32_t port) {
  if (policy == nullptr) return {};
  if (const auto* own = FindPort(*policy, port)) return SharedParts(*own);
  EffectivePolicy out = SharedParts(*policy);
  if (policy->has_proxy_protocol()) out.proxy_protocol = &policy->proxy_protocol();
  if (policy->has_retry_budget()) out.retry_budget = &policy->retry_budget();
  return out;
}

EffectivePolicy PolicyForSubset(const EffectivePolicy& rule, const api::TrafficPolicy* subset,
                                uint32_t port) {
  if (subset == nullptr) return rule;
  const bool replaces = FindPort(*subset, port) != nullptr;
  EffectivePolicy out = PolicyForPort(subset, port);
  const auto inherit = [](auto*& mine, auto* inherited) {
    if (mine == nullptr) mine = inherited;
  };
  if (!replaces) {
    inherit(out.connection_pool, rule.connection_pool);
    inherit(out.outlier_detection, rule.outlier_detection);
    inherit(out.load_balancer, rule.load_balancer);
    inherit(out.tls, rule.tls);
  }
  inherit(out.proxy_protocol, rule.proxy_protocol);
  inherit(out.retry_budget, rule.retry_budget);
  return out;
}

void AddMeshDefaults(const istio::mesh::v1alpha1::MeshConfig& mesh, EffectivePolicy* policy) {
  const auto& defaults = mesh.default_traffic_policy();
  if (policy->connection_pool == nullptr && defaults.has_connection_pool()) {
    policy->connection_pool = &defaults.connection_pool();
  }
  if (policy->outlier_detection == nullptr && defaults.has_outlier_detection()) {
    policy->outlier_detection = &defaults.outlier_detection();
  }
}

const api::Subset* FindSubset(const api::DestinationRule* rule, std::string_view name) {
  if (rule == nullptr) return nullptr;
  for (const auto& subset : rule->subsets()) {
    if (subset.name() == name) return &subset;
  }
  return nullptr;
}

const api::TrafficPolicy* PolicyOf(const api::DestinationRule* rule) {
  return rule != nullptr && rule->has_traffic_policy() ? &rule->traffic_policy() : nullptr;
}

const api::TrafficPolicy* PolicyOf(const api::Subset* subset) {
  return subset != nullptr && subset->has_traffic_policy() ? &subset->traffic_policy() : nullptr;
}

}  // namespace fairlead::gen
