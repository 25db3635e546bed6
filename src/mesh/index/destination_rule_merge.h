#ifndef FAIRLEAD_MESH_INDEX_DESTINATION_RULE_MERGE_H_
#define FAIRLEAD_MESH_INDEX_DESTINATION_RULE_MERGE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace fairlead::config {
class ConfigObject;
}
namespace istio::networking::v1alpha3 {
class DestinationRule;
}  // namespace istio::networking::v1alpha3

namespace fairlead::mesh {

// Who wrote a rule.
enum class RuleOrigin : uint8_t {
  kUser,
  kBackendPolicy,  // it was made of a policy of the Gateway API, such as a BackendTLSPolicy
};
RuleOrigin OriginOf(const config::ConfigObject& rule);

// Adds a younger rule for the same host to `merged`, the oldest one of which is of origin `oldest`: subsets
// with new names are appended, a traffic policy is taken over if there is none yet. Of a user's policy and a
// backend policy's, whichever is older, the user's fields count, and the other fills those that are not set.
// Returns the names of subsets that were there already and are left out. Source: Istio's
// mergeDestinationRule.
std::vector<std::string> MergeDestinationRule(const istio::networking::v1alpha3::DestinationRule& younger,
                                              RuleOrigin origin, RuleOrigin oldest,
                                              istio::networking::v1alpha3::DestinationRule* merged);

// Whether two rules select the same workloads: no workloadSelector at all, or the same labels.
bool SelectSameWorkloads(const istio::networking::v1alpha3::DestinationRule& a,
                         const istio::networking::v1alpha3::DestinationRule& b);

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_DESTINATION_RULE_MERGE_H_
