#ifndef FAIRLEAD_MESH_DESTINATION_RULE_MERGE_H_
#define FAIRLEAD_MESH_DESTINATION_RULE_MERGE_H_

#include <string>
#include <vector>

namespace istio::networking::v1alpha3 {
class DestinationRule;
}  // namespace istio::networking::v1alpha3

namespace fairlead::mesh {

// Adds a younger rule for the same host to `merged`: subsets with new names are appended, a traffic policy is
// taken over if there is none yet. Returns the names of subsets that were there already and are left out.
std::vector<std::string> MergeDestinationRule(const istio::networking::v1alpha3::DestinationRule& younger,
                                              istio::networking::v1alpha3::DestinationRule* merged);

// Whether two rules select the same workloads: no workloadSelector at all, or the same labels.
bool SelectSameWorkloads(const istio::networking::v1alpha3::DestinationRule& a,
                         const istio::networking::v1alpha3::DestinationRule& b);

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_DESTINATION_RULE_MERGE_H_
