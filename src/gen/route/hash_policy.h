#ifndef FAIRLEAD_GEN_ROUTE_HASH_POLICY_H_
#define FAIRLEAD_GEN_ROUTE_HASH_POLICY_H_

#include <cstdint>

#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"

namespace envoy::config::route::v3 {
class RouteAction;
}

// Consistent hashing needs both: a load balancer in the cluster and, here, what the route hashes.
namespace fairlead::gen::route {

using ConsistentHash = istio::networking::v1alpha3::LoadBalancerSettings::ConsistentHashLB;

// Whether any part of the rule (ports and subsets included) balances by a hash: rules that do not are of no
// interest to routes.
bool HasConsistentHash(const istio::networking::v1alpha3::DestinationRule& rule);

// The hash policy of a service without a VirtualService: the port's setting, otherwise the service's; null
// for none.
const ConsistentHash* HashOfServicePort(const istio::networking::v1alpha3::DestinationRule& rule,
                                        uint32_t port);

// The hash policy of a VirtualService's destination. The first setting wins: the subset's for the port, the
// subset's, the rule's for the port, the rule's. Null for none. Source: Istio's HashForHTTPDestination.
const ConsistentHash* HashOfDestination(const istio::networking::v1alpha3::DestinationRule& rule,
                                        const istio::networking::v1alpha3::Destination& destination);

// Adds the policy to the action; nothing where the setting names no key.
void AddHashPolicy(const ConsistentHash& hash, envoy::config::route::v3::RouteAction* out);

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_HASH_POLICY_H_
