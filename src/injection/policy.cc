#include "injection/policy.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "injection/annotations.h"
#include "injection/typed_json.h"

namespace fairlead::injection {
namespace {

bool IsSystemNamespace(std::string_view ns) {
  constexpr std::array<std::string_view, 4> kSystem = {"kube-system", "kube-public", "kube-node-lease",
                                                       "local-path-storage"};
  return std::find(kSystem.begin(), kSystem.end(), ns) != kSystem.end();
}

bool Selects(const std::vector<Selector>& selectors, const LabelMap& labels) {
  return std::any_of(selectors.begin(), selectors.end(),
                     [&](const Selector& selector) { return !selector.empty && selector.Matches(labels); });
}

// What the pod or the selectors say; nothing where the policy decides.
std::optional<bool> Asked(const Json& metadata, const InjectorConfiguration& configuration) {
  const Json& label = Member(Member(metadata, "labels"), kInject);
  const std::string said = TextOf(label.is_null() ? Member(Member(metadata, "annotations"), kInject) : label);
  if (said == "true") return true;
  if (said == "false") return false;
  const LabelMap labels = ReadLabels(Member(metadata, "labels"));
  if (Selects(configuration.never_inject, labels)) return false;
  if (Selects(configuration.always_inject, labels)) return true;
  return std::nullopt;
}

}  // namespace

bool WantsInjection(const Json& pod, const InjectorConfiguration& configuration) {
  if (Member(pod, "spec", "hostNetwork") == true) return false;
  const Json& metadata = Member(pod, "metadata");
  if (IsSystemNamespace(TextOf(metadata, "namespace"))) return false;
  const bool enabled = configuration.policy == "enabled";
  if (!enabled && configuration.policy != "disabled") return false;
  return Asked(metadata, configuration).value_or(enabled);
}

}  // namespace fairlead::injection
