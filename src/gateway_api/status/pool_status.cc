#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/strings.h"
#include "config/read/tree_json.h"
#include "config/read/tree_object.h"
#include "gateway_api/gateway_class.h"
#include "gateway_api/names.h"
#include "gateway_api/status/conditions.h"
#include "gateway_api/status/kinds.h"
#include "gateway_api/status/route_verdict.h"

namespace fairlead::gateway_api {
namespace {

using config::ConfigObject;
using config::Kind;
using config::Node;
using config::ObjectKey;
using config::SpecOf;
using Json = nlohmann::ordered_json;

constexpr std::string_view kAccepted = "Accepted";
constexpr std::string_view kResolvedRefs = "ResolvedRefs";
constexpr std::string_view kInvalidExtension = "InvalidExtensionRef";

// Namespace and name of a Gateway that routes to a pool name as their parent.
using Parent = std::pair<std::string, std::string>;
using Accepted = std::map<Parent, DraftCondition>;

// What the first route to the pool says of each parent counts.
Accepted AcceptedBy(StatusView& view, const ObjectKey& pool) {
  Accepted parents;
  for (const RouteConversionPtr& route : view.RoutesTo(pool)) {
    for (const ParentVerdict& verdict : ParentVerdicts(*route)) {
      DraftCondition condition{std::string(kAccepted), true, std::string(kAccepted),
                               "Referenced by an HTTPRoute accepted by the parentRef Gateway"};
      if (!verdict.accepted) {
        condition.status = false;
        condition.reason = "HTTPRouteNotAccepted";
        condition.message =
            StrCat("Referenced HTTPRoute ", route->object->ns().str(), "/", route->object->name().str(),
                   " not accepted by Gateway ", verdict.ns, "/", verdict.name, ": ", verdict.message);
      }
      parents.try_emplace({verdict.ns, verdict.name}, std::move(condition));
    }
  }
  return parents;
}

DraftCondition Resolved(StatusView& view, const ConfigObject& pool) {
  const Node reference = SpecOf(pool).Find("endpointPickerRef");
  const Node kind = reference.Find("kind");
  const std::string_view name = reference.Find("name").text();
  std::string problem;
  if (!kind.IsNull() && !kind.text().empty() && kind.text() != "Service") {
    problem = StrCat("Unsupported ExtensionRef kind ", kind.text());
  } else if (name.empty()) {
    problem = "ExtensionRef not defined";
  } else if (view.Find(Kind::kService, pool.ns(), name) == nullptr) {
    problem = StrCat("Referenced ExtensionRef not found ", name);
  }
  if (!problem.empty())
    return {std::string(kResolvedRefs), false, std::string(kInvalidExtension), std::move(problem)};
  return {std::string(kResolvedRefs), true, std::string(kResolvedRefs),
          "Referenced ExtensionRef resolved successfully"};
}

bool IsOurGateway(StatusView& view, std::string_view ns, std::string_view name) {
  const config::ConfigPtr gateway = view.Find(Kind::kKubernetesGateway, ns, name);
  if (gateway == nullptr) return false;
  const std::string_view name_of_class = SpecOf(*gateway).Find("gatewayClassName").text();
  return FindBuiltinClass(name_of_class, view.features()) != nullptr;
}

// What other controllers say stays; what the API's default says, and what was ours, goes.
bool Stays(StatusView& view, const ConfigObject& pool, Node existing, const Accepted& ours) {
  const Node reference = existing.Find("parentRef");
  const std::string_view name = reference.Find("name").text();
  const std::string_view written = reference.Find("namespace").text();
  const std::string_view ns = written.empty() ? std::string_view(pool.ns()) : written;
  if (reference.Find("kind").text() == "Status" && name == "default") return false;
  return !ours.contains({std::string(ns), std::string(name)}) && !IsOurGateway(view, ns, name);
}

Json ParentJson(const ConfigObject& pool, const Parent& parent, Node existing_parents,
                std::vector<DraftCondition> conditions) {
  Node existing;
  for (Node one : existing_parents.elements()) {
    const Node reference = one.Find("parentRef");
    if (!existing && reference.Find("namespace").text() == parent.first &&
        reference.Find("name").text() == parent.second)
      existing = one;
  }
  Json merged = MergedConditions(existing.Find("conditions"), pool.meta().generation, std::move(conditions));
  Json kept = Json::array();
  for (Json& one : merged) {
    if (one["type"] == kAccepted || one["type"] == kResolvedRefs) kept.push_back(std::move(one));
  }
  Json json;
  json["conditions"] = std::move(kept);
  json["parentRef"] = {
      {"group", kGatewayGroup}, {"kind", "Gateway"}, {"namespace", parent.first}, {"name", parent.second}};
  return json;
}

}  // namespace

// Source: Istio's calculateInferencePoolStatus.
Json PoolStatus(const ConfigObject& pool, StatusView& view) {
  if (!view.features().inference_pools) return {};
  const Accepted ours = AcceptedBy(view, KeyOf(pool));
  const Node existing = pool.Spec<config::Tree>().Find("status").Find("parents");
  Json parents = Json::array();
  for (Node one : existing.elements()) {
    if (Stays(view, pool, one, ours)) parents.push_back(config::ToJson(one));
  }
  for (const auto& [parent, accepted] : ours)
    parents.push_back(ParentJson(pool, parent, existing, {accepted, Resolved(view, pool)}));
  Json status = Json::object();
  if (!parents.empty() || existing.size() > 0) status["parents"] = std::move(parents);
  return status;
}

}  // namespace fairlead::gateway_api
