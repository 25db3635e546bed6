#include "mesh/index/destination_rule_merge.h"

#include <algorithm>
#include <utility>

#include "config/derived_object.h"
#include "config/object.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"

namespace fairlead::mesh {

namespace api = istio::networking::v1alpha3;

namespace {

// The fields that a policy for all ports and one for a port have.
template <typename Policy>
void FillCommon(const Policy& backend, Policy* user) {
  if (!user->has_load_balancer() && backend.has_load_balancer())
    *user->mutable_load_balancer() = backend.load_balancer();
  if (!user->has_connection_pool() && backend.has_connection_pool())
    *user->mutable_connection_pool() = backend.connection_pool();
  if (!user->has_outlier_detection() && backend.has_outlier_detection())
    *user->mutable_outlier_detection() = backend.outlier_detection();
  if (!user->has_tls() && backend.has_tls()) *user->mutable_tls() = backend.tls();
}

void FillPort(const api::TrafficPolicy_PortTrafficPolicy& backend, api::TrafficPolicy* user) {
  for (auto& port : *user->mutable_port_level_settings()) {
    if (port.port().number() == backend.port().number()) return FillCommon(backend, &port);
  }
  *user->add_port_level_settings() = backend;
}

// What the user's policy does not set is the backend policy's.
void FillTrafficPolicy(const api::TrafficPolicy& backend, api::TrafficPolicy* user) {
  FillCommon(backend, user);
  if (!user->has_tunnel() && backend.has_tunnel()) *user->mutable_tunnel() = backend.tunnel();
  if (!user->has_proxy_protocol() && backend.has_proxy_protocol())
    *user->mutable_proxy_protocol() = backend.proxy_protocol();
  if (!user->has_retry_budget() && backend.has_retry_budget())
    *user->mutable_retry_budget() = backend.retry_budget();
  for (const auto& port : backend.port_level_settings()) FillPort(port, user);
}

void MergeTrafficPolicy(const api::DestinationRule& younger, RuleOrigin origin, RuleOrigin oldest,
                        api::DestinationRule* merged) {
  if (!younger.has_traffic_policy()) return;
  if (!merged->has_traffic_policy()) {
    *merged->mutable_traffic_policy() = younger.traffic_policy();
  } else if (origin == RuleOrigin::kBackendPolicy && oldest == RuleOrigin::kUser) {
    FillTrafficPolicy(younger.traffic_policy(), merged->mutable_traffic_policy());
  } else if (origin == RuleOrigin::kUser && oldest == RuleOrigin::kBackendPolicy) {
    api::TrafficPolicy policy = younger.traffic_policy();
    FillTrafficPolicy(merged->traffic_policy(), &policy);
    *merged->mutable_traffic_policy() = std::move(policy);
  }
}

}  // namespace

RuleOrigin OriginOf(const config::ConfigObject& rule) {
  // What is made of Gateway API objects names them; users may not set it.
  const bool made = rule.meta().annotations.contains(config::kParentsAnnotation);
  return made ? RuleOrigin::kBackendPolicy : RuleOrigin::kUser;
}

std::vector<std::string> MergeDestinationRule(const api::DestinationRule& younger, RuleOrigin origin,
                                              RuleOrigin oldest, api::DestinationRule* merged) {
  std::vector<std::string> duplicates;
  const int known = merged->subsets_size();
  for (const api::Subset& subset : younger.subsets()) {
    const auto end = merged->subsets().begin() + known;
    const bool duplicate = std::any_of(merged->subsets().begin(), end,
                                       [&subset](const api::Subset& s) { return s.name() == subset.name(); });
    if (duplicate) {
      duplicates.push_back(subset.name());
    } else {
      *merged->add_subsets() = subset;
    }
  }
  MergeTrafficPolicy(younger, origin, oldest, merged);
  return duplicates;
}

bool SelectSameWorkloads(const api::DestinationRule& a, const api::DestinationRule& b) {
  if (a.has_workload_selector() != b.has_workload_selector()) return false;
  const auto& labels_a = a.workload_selector().match_labels();
  const auto& labels_b = b.workload_selector().match_labels();
  if (labels_a.size() != labels_b.size()) return false;
  return std::all_of(labels_a.begin(), labels_a.end(), [&labels_b](const auto& label) {
    auto it = labels_b.find(label.first);
    return it != labels_b.end() && it->second == label.second;
  });
}

}  // namespace fairlead::mesh
