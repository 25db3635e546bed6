#ifndef FAIRLEAD_GEN_POLICY_TRAFFIC_POLICY_H_
#define FAIRLEAD_GEN_POLICY_TRAFFIC_POLICY_H_

#include <cstdint>
#include <string_view>

namespace istio::mesh::v1alpha1 {
class MeshConfig;
}
namespace istio::networking::v1alpha3 {
class ClientTLSSettings;
class ConnectionPoolSettings;
class DestinationRule;
class LoadBalancerSettings;
class OutlierDetection;
class Subset;
class TrafficPolicy;
class TrafficPolicy_ProxyProtocol;
class TrafficPolicy_RetryBudget;
}  // namespace istio::networking::v1alpha3

// The policy of a DestinationRule for one port of a service or subset. Source: the API description of
// istio.networking.v1alpha3.DestinationRule; Istio's GetPortLevelTrafficPolicy and MergeSubsetTrafficPolicy.
namespace fairlead::gen {

namespace api = istio::networking::v1alpha3;

// The parts of a policy that hold after inheritance; null where nothing is said. Points into the messages it
// was resolved from, which must outlive it.
struct EffectivePolicy {
  const api::ConnectionPoolSettings* connection_pool = nullptr;
  const api::OutlierDetection* outlier_detection = nullptr;
  const api::LoadBalancerSettings* load_balancer = nullptr;
  const api::ClientTLSSettings* tls = nullptr;
  const api::TrafficPolicy_ProxyProtocol* proxy_protocol = nullptr;
  const api::TrafficPolicy_RetryBudget* retry_budget = nullptr;
};

// A policy for one port: settings of the port's own, where it has some, inherit nothing from the rest.
EffectivePolicy PolicyForPort(const api::TrafficPolicy* policy, uint32_t port);
// A subset's policy over its rule's: part by part, except that a subset's port settings replace all four
// parts that a port may set. `subset` may be null.
EffectivePolicy PolicyForSubset(const EffectivePolicy& rule, const api::TrafficPolicy* subset, uint32_t port);
// The mesh's default connection pool and outlier detection, where the policy has none.
void AddMeshDefaults(const istio::mesh::v1alpha1::MeshConfig& mesh, EffectivePolicy* policy);

// The subset of that name, or null; `rule` may be null.
const api::Subset* FindSubset(const api::DestinationRule* rule, std::string_view name);
// The rule's policy, or null; `rule` may be null.
const api::TrafficPolicy* PolicyOf(const api::DestinationRule* rule);
const api::TrafficPolicy* PolicyOf(const api::Subset* subset);

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_POLICY_TRAFFIC_POLICY_H_
