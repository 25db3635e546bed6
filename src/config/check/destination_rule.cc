#include <set>

#include "config/check/kinds.h"
#include "config/check/parts.h"

namespace fairlead::config::check {

void CheckDestinationRule(const google::protobuf::Message& message, const Spot& spec) {
  const auto& rule = static_cast<const net::DestinationRule&>(message);
  spec.Field("host").Refuse(WildcardDomainProblem(rule.host()));
  if (rule.has_traffic_policy())
    CheckTrafficPolicy(rule.traffic_policy(), Warnings::kKept, Spot(spec, "trafficPolicy"));
  std::set<std::string_view> names;
  const Spot subsets(spec, "subsets");
  for (int i = 0; i < rule.subsets_size(); ++i) {
    const net::Subset& subset = rule.subsets(i);
    const Spot here(subsets, static_cast<size_t>(i));
    if (!names.insert(subset.name()).second)
      here.Field("name").Error("duplicate-item", StrCat("another subset is \"", subset.name(), "\""));
    here.Field("name").Refuse(SubsetNameProblem(subset.name()));
    CheckLabels(subset.labels(), Spot(here, "labels"));
    if (subset.has_traffic_policy())
      CheckTrafficPolicy(subset.traffic_policy(), Warnings::kLost, Spot(here, "trafficPolicy"));
  }
  CheckExportTo(rule.export_to(),
                rule.has_workload_selector() ? ExportOf::kRuleWithSelector : ExportOf::kOther,
                Spot(spec, "exportTo"));
  const Spot selector(spec, "workloadSelector");
  if (rule.has_workload_selector())
    CheckSelectedLabels(rule.workload_selector().match_labels(), Spot(selector, "matchLabels"));
}

}  // namespace fairlead::config::check
