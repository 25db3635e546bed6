#ifndef FAIRLEAD_GEN_POLICY_LOCALITY_LB_H_
#define FAIRLEAD_GEN_POLICY_LOCALITY_LB_H_

#include <string_view>
#include <vector>

#include "base/labels.h"
#include "envoy/config/endpoint/v3/endpoint_components.pb.h"
#include "gen/policy/traffic_policy.h"
#include "model/endpoint.h"
#include "model/service.h"
#include "model/workload.h"

// Locality load balancing: which endpoints a client prefers by where both are. Source: the API description of
// LocalityLoadBalancerSetting and ZoneAwareLoadBalancerSetting; Kubernetes' trafficDistribution; Istio's
// loadbalancer.go.
namespace istio::networking::v1alpha3 {
class LocalityLoadBalancerSetting;
class ZoneAwareLoadBalancerSetting;
}  // namespace istio::networking::v1alpha3

namespace fairlead::gen {

// The setting for one service. A DestinationRule's setting wins over the service's traffic distribution, and
// that wins over the mesh's setting. At most one of the two is set; neither: no locality load balancing at
// all.
struct LocalityPolicy {
  const api::LocalityLoadBalancerSetting* locality = nullptr;
  const api::ZoneAwareLoadBalancerSetting* zone_aware = nullptr;
  // Failover without outlier detection: traffic distribution relies on the endpoints' reported health
  // instead.
  bool force_failover = false;

  // Zone-aware and not switched off.
  bool ZoneAwareRouting() const;
};
// `load_balancer` may be null. Points into the arguments, or to statics.
LocalityPolicy ResolveLocalityPolicy(const istio::mesh::v1alpha1::MeshConfig& mesh,
                                     const api::LoadBalancerSettings* load_balancer,
                                     const model::Service& service);

// The client's side: where it is and what it is labelled.
struct LocalityClient {
  model::Locality locality;
  LabelMap labels;        // those that failover priorities name
  bool labelled = false;  // has labels at all: without any, failover priorities do nothing
};

// One endpoint of a locality group beside its message: what failover priorities compare labels of. A gateway
// of another network stands for the endpoints behind it.
struct GroupMember {
  const model::Endpoint* endpoint = nullptr;
  const model::NetworkGateway* gateway = nullptr;
  std::string_view Label(std::string_view key) const;
};

// Endpoints of one locality; `members` go with message.lb_endpoints one by one.
struct LocalityGroup {
  envoy::config::endpoint::v3::LocalityLbEndpoints message;
  std::vector<GroupMember> members;
};

// Gives the groups weights or priorities as the client sees them; priorities may split a group. `failover`:
// whether outlier detection is on. `by_labels` false: failoverPriority is not looked at.
void ApplyLocalityPolicy(const LocalityPolicy& policy, const LocalityClient& client, bool failover,
                         bool by_labels, std::vector<LocalityGroup>* groups);

// The attributes of the client that ApplyLocalityPolicy reads.
struct LocalityNeeds {
  bool locality = false;
  bool by_labels = false;                // whether it has labels, and those of `labels`
  std::vector<std::string_view> labels;  // keys; views into the setting
};
LocalityNeeds NeedsOf(const LocalityPolicy& policy, bool failover);

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_POLICY_LOCALITY_LB_H_
