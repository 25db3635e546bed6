#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "config/read/tree_json.h"
#include "gateway_api/names.h"
#include "gateway_api/status/conditions.h"
#include "gateway_api/status/kinds.h"

namespace fairlead::gateway_api {
namespace {

using config::ConfigObject;
using config::Node;
using Json = nlohmann::ordered_json;

constexpr size_t kMostAncestors = 16;
constexpr const char* kReferenceFields[] = {"group", "kind", "namespace", "name", "sectionName", "port"};

struct Ancestor {
  Json reference;
  std::string_view controller;
  const std::vector<DraftCondition>* conditions = nullptr;
};

// Whether all fields are there on both sides or on neither, and equal.
bool SameReference(const Json& reference, Node existing) {
  return std::all_of(std::begin(kReferenceFields), std::end(kReferenceFields), [&](const char* field) {
    const Json other = config::ToJson(existing.Find(field));
    return reference.contains(field) ? reference[field] == other : other.is_null();
  });
}

Json TargetReference(Node target) {
  Json reference;
  for (const char* field : {"group", "kind", "name", "sectionName"}) {
    const Node value = target.Find(field);
    if (!value.IsNull()) reference[field] = config::ToJson(value);
  }
  return reference;
}

// The Gateways that some route names together with a target.
std::set<RouteRelations::GatewayName> GatewaysOf(const PolicyConversion& policy, StatusView& view) {
  std::set<RouteRelations::GatewayName> gateways;
  for (const auto& target : policy.targets) {
    if (target.resolved) gateways.merge(view.GatewaysNamedWith(target.key));
  }
  return gateways;
}

// The targets, then the Gateways, without their namespaces.
std::vector<Ancestor> AncestorsOf(const PolicyConversion& policy, StatusView& view) {
  std::vector<Ancestor> ancestors;
  const Node targets = policy.object->Spec<config::Tree>().Find("spec").Find("targetRefs");
  for (size_t i = 0; i < policy.targets.size(); ++i)
    ancestors.push_back({TargetReference(targets.At(i)), kMeshController, &policy.targets[i].conditions});
  if (policy.targets.empty()) return ancestors;
  for (const auto& [ns, name] : GatewaysOf(policy, view)) {
    Json reference = {{"group", kGatewayGroup}, {"kind", "Gateway"}, {"name", name.str()}};
    ancestors.push_back(
        {std::move(reference), view.features().gateway_controller, &policy.targets.back().conditions});
  }
  return ancestors;
}

Json AncestorJson(const Ancestor& ancestor, const ConfigObject& policy, Node existing_ancestors) {
  Node existing;
  for (Node one : existing_ancestors.elements()) {
    if (!existing && SameReference(ancestor.reference, one.Find("ancestorRef"))) existing = one;
  }
  Json json;
  json["ancestorRef"] = ancestor.reference;
  json["controllerName"] = ancestor.controller;
  json["conditions"] =
      MergedConditions(existing.Find("conditions"), policy.meta().generation, *ancestor.conditions);
  return json;
}

Json AncestorsJson(const PolicyConversion& policy, StatusView& view) {
  const Node existing = policy.object->Spec<config::Tree>().Find("status").Find("ancestors");
  std::vector<Ancestor> ancestors = AncestorsOf(policy, view);
  Json list = Json::array();
  for (Node one : existing.elements()) {
    const std::string_view controller = one.Find("controllerName").text();
    if (controller != view.features().gateway_controller && controller != kMeshController) {
      list.push_back(config::ToJson(one));
      continue;
    }
    const auto ours = std::find_if(ancestors.begin(), ancestors.end(), [one](const Ancestor& ancestor) {
      return SameReference(ancestor.reference, one.Find("ancestorRef"));
    });
    if (ours == ancestors.end()) continue;
    list.push_back(AncestorJson(*ours, *policy.object, existing));
    ancestors.erase(ours);
  }
  for (const Ancestor& ancestor : ancestors) list.push_back(AncestorJson(ancestor, *policy.object, existing));
  while (list.size() > kMostAncestors) list.erase(list.size() - 1);
  return list;
}

}  // namespace

Json PolicyStatus(const ConfigObject& object, StatusView& view) {
  const PolicyConversionPtr policy = view.Policy(KeyOf(object));
  Json status = Json::object();
  if (policy == nullptr) return status;
  Json ancestors = AncestorsJson(*policy, view);
  const bool had_ancestors = object.Spec<config::Tree>().Find("status").Find("ancestors").size() > 0;
  if (!ancestors.empty() || had_ancestors) status["ancestors"] = std::move(ancestors);
  return status;
}

}  // namespace fairlead::gateway_api
