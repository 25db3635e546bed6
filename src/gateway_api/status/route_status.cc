#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/strings.h"
#include "config/read/tree_json.h"
#include "gateway_api/status/conditions.h"
#include "gateway_api/status/kinds.h"
#include "gateway_api/status/route_verdict.h"

namespace fairlead::gateway_api {
namespace {

using config::ConfigObject;
using config::Node;
using Json = nlohmann::ordered_json;

constexpr std::string_view kAccepted = "Accepted";
constexpr std::string_view kResolvedRefs = "ResolvedRefs";

// What is said of one parentRef: the attachments to all listeners that it may mean, as one.
struct Verdict {
  size_t reference = 0;
  std::string text;  // of the reference
  config::ObjectKey parent;
  bool mesh = false;
  size_t accepted = 0;
  Refusal refusal = Refusal::kNone;
  std::vector<std::string> messages;  // one for each listener that refuses for that reason
};

void Add(const Attachment& attachment, Verdict* verdict) {
  if (attachment.accepted()) ++verdict->accepted;
  if (attachment.refusal < verdict->refusal) {
    verdict->refusal = attachment.refusal;
    verdict->messages.clear();
  }
  if (attachment.refusal == verdict->refusal) verdict->messages.push_back(attachment.message);
}

// In the order of the references' texts.
std::vector<Verdict> VerdictsOf(const RouteConversion& route) {
  std::vector<Verdict> verdicts;
  for (const Attachment& attachment : route.attachments) {
    auto place = std::find_if(verdicts.begin(), verdicts.end(), [&](const Verdict& verdict) {
      return verdict.reference == attachment.reference;
    });
    if (place == verdicts.end()) {
      Verdict verdict;
      verdict.reference = attachment.reference;
      verdict.text = attachment.reference_text;
      verdict.parent = attachment.parent_key;
      verdict.mesh = attachment.is_mesh();
      verdict.refusal = attachment.refusal;
      place = verdicts.insert(verdicts.end(), std::move(verdict));
    }
    Add(attachment, &*place);
  }
  return verdicts;
}

DraftConditions ConditionsOf(const Verdict& verdict, const RouteConversion& route) {
  DraftConditions conditions;
  if (verdict.refusal != Refusal::kNone) {
    std::vector<std::string> messages = verdict.messages;
    std::sort(messages.begin(), messages.end());
    conditions.Fail(kAccepted, {std::string(ReasonOf(verdict.refusal)), Join(messages, "; ")});
  } else if (verdict.accepted > 1) {
    conditions.Set(kAccepted, kAccepted, StrCat("Route was valid, bound to ", verdict.accepted, " parents"));
  } else {
    conditions.Set(kAccepted, kAccepted, "Route was valid");
  }
  conditions.Set(kResolvedRefs, kResolvedRefs, "All references resolved");
  conditions.FailIf(kResolvedRefs, verdict.mesh ? route.mesh_error : route.gateway_error);
  return conditions;
}

Json ParentJson(const Verdict& verdict, const RouteConversion& route, const std::string& controller,
                Node existing) {
  const ConfigObject& object = *route.object;
  const Node reference = object.Spec<config::Tree>().Find("spec").Find("parentRefs").At(verdict.reference);
  Json json;
  json["parentRef"] = config::ToJson(reference);
  json["controllerName"] = controller;
  json["conditions"] = MergedConditions(existing.Find("conditions"), object.meta().generation,
                                        ConditionsOf(verdict, route).all());
  return json;
}

// Entries keep their places, other controllers' too; new ones come behind them, the last text first.
Json ParentsJson(const RouteConversion& route, const std::string& controller) {
  const ConfigObject& object = *route.object;
  std::vector<Verdict> verdicts = VerdictsOf(route);
  Json list = Json::array();
  for (Node existing : object.Spec<config::Tree>().Find("status").Find("parents").elements()) {
    if (existing.Find("controllerName").text() != controller) {
      list.push_back(config::ToJson(existing));
      continue;
    }
    const std::string text = ReferenceText(existing.Find("parentRef"), object.ns());
    const auto verdict = std::find_if(verdicts.begin(), verdicts.end(),
                                      [&text](const Verdict& one) { return one.text == text; });
    if (verdict == verdicts.end()) continue;
    list.push_back(ParentJson(*verdict, route, controller, existing));
    verdicts.erase(verdict);
  }
  for (auto verdict = verdicts.rbegin(); verdict != verdicts.rend(); ++verdict)
    list.push_back(ParentJson(*verdict, route, controller, Node()));
  return list;
}

}  // namespace

std::vector<ParentVerdict> ParentVerdicts(const RouteConversion& route) {
  std::vector<ParentVerdict> verdicts;
  const std::vector<Verdict> all = VerdictsOf(route);
  for (auto verdict = all.rbegin(); verdict != all.rend(); ++verdict) {
    const DraftConditions conditions = ConditionsOf(*verdict, route);
    const DraftCondition& accepted = conditions.all().front();
    verdicts.push_back(
        {verdict->parent.ns.str(), verdict->parent.name.str(), accepted.status, accepted.message});
  }
  return verdicts;
}

Json RouteStatus(const ConfigObject& object, StatusView& view) {
  const RouteConversionPtr route = view.Route(KeyOf(object));
  Json status = Json::object();
  if (route == nullptr) return status;
  Json parents = ParentsJson(*route, view.features().gateway_controller);
  const bool had_parents = object.Spec<config::Tree>().Find("status").Find("parents").size() > 0;
  if (!parents.empty() || had_parents) status["parents"] = std::move(parents);
  return status;
}

}  // namespace fairlead::gateway_api
