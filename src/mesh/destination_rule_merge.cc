#include "mesh/destination_rule_merge.h"

#include <algorithm>

#include "istio/networking/v1alpha3/destination_rule.pb.h"

namespace fairlead::mesh {

namespace api = istio::networking::v1alpha3;

std::vector<std::string> MergeDestinationRule(const api::DestinationRule& younger,
                                              api::DestinationRule* merged) {
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
  if (!merged->has_traffic_policy() && younger.has_traffic_policy()) {
    *merged->mutable_traffic_policy() = younger.traffic_policy();
  }
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
