#include "config/check/parts.h"

#include <set>

namespace fairlead::config::check {
namespace {

struct Target {
  std::string_view group, kind;
};
constexpr Target kTargets[] = {{"", "Service"},
                               {"networking.istio.io", "ServiceEntry"},
                               {"gateway.networking.k8s.io", "Gateway"},
                               {"gateway.networking.k8s.io", "GatewayClass"}};

}  // namespace

void CheckTarget(const istio::type::v1beta1::PolicyTargetReference& target, const Spot& at) {
  if (target.name().empty()) at.Field("name").Error("missing-field", "the target's name is required");
  if (!target.namespace_().empty())
    at.Field("namespace").Error("unsupported", "a target is in the policy's own namespace");
  const std::string_view group = target.group() == "core" ? "" : std::string_view(target.group());
  for (const Target& known : kTargets) {
    if (known.group == group && known.kind == target.kind()) return;
  }
  at.Field("kind").Error("invalid-value",
                         StrCat("a target is a Service, ServiceEntry, Gateway or GatewayClass, not ",
                                target.group(), "/", target.kind()));
}

void CheckExportTo(const google::protobuf::RepeatedPtrField<std::string>& names, ExportOf kind,
                   const Spot& at) {
  const std::string ns(at.meta().ns);
  std::set<std::string> seen;
  for (int i = 0; i < names.size(); ++i) {
    const Spot here(at, static_cast<size_t>(i));
    const std::string name = names[i] == "." ? ns : names[i];
    if (seen.contains(name)) {
      here.Error("duplicate-item", StrCat("\"", names[i], "\" is there twice"));
    } else if (name == "~" && kind != ExportOf::kServiceEntry) {
      here.Error("invalid-value", "~ is only for service entries");
    } else if (name != "~" && name != "*" && name != "." && !IsDns1123Label(name)) {
      here.Error("invalid-value", StrCat("\"", name, "\" is neither \".\", \"*\" nor a namespace"));
    } else {
      seen.insert(name);
    }
  }
  if (kind == ExportOf::kRuleWithSelector && !seen.empty() && (seen.size() > 1 || !seen.contains(ns)))
    at.Error("conflict", "a rule with a workloadSelector is only for its own namespace");
  if (seen.contains("*") && names.size() > 1) at.Error("conflict", "\"*\" goes with no other entry");
  if (seen.contains("~") && names.size() > 1) at.Error("conflict", "\"~\" goes with no other entry");
}

}  // namespace fairlead::config::check
