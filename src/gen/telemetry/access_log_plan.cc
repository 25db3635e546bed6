#include "gen/telemetry/access_log_plan.h"

#include <set>
#include <vector>

#include "gen/telemetry/mode.h"
#include "gen/telemetry/traits.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/telemetry/v1alpha1/telemetry.pb.h"

namespace fairlead::gen::telemetry {
namespace {

using istio::telemetry::v1alpha1::AccessLogging;
using istio::telemetry::v1alpha1::ProviderRef;
using istio::telemetry::v1alpha1::Telemetry;
using Logging = google::protobuf::RepeatedPtrField<AccessLogging>;
using Names = std::vector<std::string>;

Names NamesOf(const google::protobuf::RepeatedPtrField<ProviderRef>& providers) {
  Names names;
  for (const ProviderRef& provider : providers) names.push_back(provider.name());
  return names;
}

// The providers that count: those that the innermost level with any names; and each one's last filter.
std::set<std::string> InScope(const std::vector<const Logging*>& levels, TrafficClass traffic,
                              const Names& defaults, std::map<std::string, ProviderLogging>* filters) {
  std::set<std::string> in_scope(defaults.begin(), defaults.end());
  for (const Logging* level : levels) {
    std::set<std::string> named;
    for (const AccessLogging& logging : *level) {
      if (!AppliesTo(logging.match().mode(), traffic)) continue;
      for (const ProviderRef& provider : logging.providers()) {
        named.insert(provider.name());
        (*filters)[provider.name()] = {false, logging.filter().expression(), logging.has_filter()};
      }
    }
    if (!named.empty()) in_scope = std::move(named);
  }
  return in_scope;
}

}  // namespace

std::optional<std::map<std::string, ProviderLogging>> PlanAccessLogs(const Traits& traits,
                                                                     TrafficClass traffic) {
  const auto& default_names = traits.settings->mesh->default_providers().access_logging();
  const Names defaults(default_names.begin(), default_names.end());
  std::vector<const Logging*> levels;
  for (const config::ConfigPtr& object : traits.telemetry.objects) {
    const Logging& logging = object->Spec<Telemetry>().access_logging();
    if (!logging.empty()) levels.push_back(&logging);
  }
  if (levels.empty() && defaults.empty()) return std::nullopt;
  std::map<std::string, ProviderLogging> plan;
  if (levels.empty()) {
    for (const std::string& name : defaults) plan[name] = {};
    return plan;
  }
  std::map<std::string, ProviderLogging> filters;
  const std::set<std::string> in_scope = InScope(levels, traffic, defaults, &filters);
  Names inherited = defaults;
  for (const Logging* level : levels) {
    for (const AccessLogging& logging : *level) {
      // A rule without providers is for those of the rule before it, whatever that one matched.
      if (logging.providers_size() > 0) inherited = NamesOf(logging.providers());
      if (!AppliesTo(logging.match().mode(), traffic)) continue;
      for (const std::string& name : inherited) {
        if (!in_scope.contains(name)) continue;
        plan[name] = logging.disabled().value() ? ProviderLogging{true, "", false} : filters[name];
      }
    }
  }
  return plan;
}

}  // namespace fairlead::gen::telemetry
