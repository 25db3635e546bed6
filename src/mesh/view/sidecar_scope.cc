#include "mesh/view/sidecar_scope.h"

#include <algorithm>

#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "istio/networking/v1alpha3/sidecar.pb.h"

namespace fairlead::mesh {
namespace {

bool Selects(const istio::networking::v1alpha3::DestinationRule& rule, const LabelMap& labels) {
  const auto& wanted = rule.workload_selector().match_labels();
  return std::all_of(wanted.begin(), wanted.end(), [&labels](const auto& label) {
    auto it = labels.find(label.first);
    return it != labels.end() && it->second == label.second;
  });
}

}  // namespace

model::ServicePtr ScopeImports::FindService(std::string_view hostname) const {
  auto it = services_by_host.find(hostname);
  return it == services_by_host.end() ? nullptr : it->second;
}

DestinationRulePtr ScopeImports::FindDestinationRule(std::string_view host, const LabelMap& workload_labels,
                                                     bool outbound) const {
  auto it = destination_rules.find(host);
  if (it == destination_rules.end()) return nullptr;
  DestinationRulePtr for_all;
  for (const DestinationRulePtr& rule : it->second) {
    if (!rule->spec->has_workload_selector()) {
      for_all = rule;
    } else if (outbound && rule->ns == ns && Selects(*rule->spec, workload_labels)) {
      return rule;
    }
  }
  return for_all;
}

bool ScopeImports::RuleDependsOnLabels(std::string_view host) const {
  auto it = destination_rules.find(host);
  if (it == destination_rules.end()) return false;
  return std::any_of(it->second.begin(), it->second.end(), [this](const DestinationRulePtr& rule) {
    return rule->ns == ns && rule->spec->has_workload_selector();
  });
}

}  // namespace fairlead::mesh
