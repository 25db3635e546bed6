#include "registry/export_to.h"

#include <algorithm>

#include "istio/mesh/v1alpha1/config.pb.h"
#include "model/label_selector.h"

namespace fairlead::registry {
namespace {

using istio::mesh::v1alpha1::ServiceEntryVisibility;

bool Lists(const std::vector<std::string>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

std::vector<std::string> WithDefault(const std::vector<std::string>& export_to,
                                     const model::Settings& settings) {
  if (!export_to.empty()) return export_to;
  const auto& defaults = settings.mesh->default_service_export_to();
  return {defaults.begin(), defaults.end()};
}

model::Visibility Resolve(const std::vector<std::string>& export_to, std::string_view ns) {
  model::Visibility visibility;
  if (export_to.empty() || Lists(export_to, "*")) return visibility;
  visibility.everywhere = false;
  if (Lists(export_to, "~")) return visibility;
  for (const std::string& target : export_to)
    visibility.namespaces.insert(target == "." ? std::string(ns) : target);
  return visibility;
}

// Namespace labels do not reach ServiceEntries in istiod, so that selectors here see a namespace without
// labels.
bool RuleMatches(const ServiceEntryVisibility::MatchRule& rule) {
  if (!rule.has_namespace_selector()) return false;
  const absl::StatusOr<model::LabelSelector> selector =
      model::LabelSelector::Parse(rule.namespace_selector());
  return selector.ok() && selector->Matches({});
}

ServiceEntryVisibility::Visibility EntryVisibility(const ServiceEntryVisibility& settings) {
  for (const auto& policy : settings.policies()) {
    if (std::all_of(policy.matching_rules().begin(), policy.matching_rules().end(), RuleMatches)) {
      return policy.visibility();
    }
  }
  return settings.default_visibility();
}

}  // namespace

model::Visibility ResolveServiceExportTo(const std::vector<std::string>& export_to, std::string_view ns,
                                         const model::Settings& settings) {
  return Resolve(WithDefault(export_to, settings), ns);
}

model::Visibility ResolveEntryExportTo(const std::vector<std::string>& export_to, std::string_view ns,
                                       const model::Settings& settings) {
  const std::vector<std::string> effective = WithDefault(export_to, settings);
  model::Visibility visibility = Resolve(effective, ns);
  if (!settings.mesh->service_entry_visibility().apply_to_sidecars()) return visibility;
  switch (EntryVisibility(settings.mesh->service_entry_visibility())) {
    case ServiceEntryVisibility::NAMESPACE: {
      // Only ever narrows: what the own namespace could not see stays hidden.
      const bool own =
          effective.empty() || Lists(effective, "*") || Lists(effective, ".") || Lists(effective, ns);
      if (effective.size() == 1 && effective[0] == "~") return visibility;
      if (own) return {false, {std::string(ns)}};
      return {false, {}};
    }
    case ServiceEntryVisibility::NONE:
      return {false, {}};
    default:
      return visibility;
  }
}

}  // namespace fairlead::registry
