#include "gateway_api/status/proxy_verdicts.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"

namespace fairlead::gateway_api {
namespace {

using Json = nlohmann::ordered_json;

Json ConditionOf(const config::Diagnostic& diagnostic, const VerdictCondition& condition,
                 const config::ConfigObject& object) {
  Json out;
  out["type"] = condition.type;
  out["status"] = "False";
  out["reason"] = condition.reason;
  out["message"] = StrCat(diagnostic.message, diagnostic.details.empty() ? "" : "; ", diagnostic.details);
  if (object.meta().generation != 0) out["observedGeneration"] = object.meta().generation;
  return out;
}

// Routes and policies have a list of conditions for each parent or ancestor.
void AddTo(const Json& condition, Json* status) {
  bool any = false;
  for (const char* list : {"parents", "ancestors"}) {
    const auto found = status->find(list);
    if (found == status->end() || !found->is_array()) continue;
    for (Json& one : *found) {
      one["conditions"].push_back(condition);
      any = true;
    }
  }
  if (!any) (*status)["conditions"].push_back(condition);
}

void RemoveFrom(const std::vector<VerdictCondition>& conditions, Json* owner) {
  const auto list = owner->is_object() ? owner->find("conditions") : owner->end();
  if (!owner->is_object() || list == owner->end() || !list->is_array()) return;
  Json kept = Json::array();
  for (Json& one : *list) {
    const bool ours =
        one.is_object() && one.contains("type") &&
        std::any_of(conditions.begin(), conditions.end(),
                    [&one](const VerdictCondition& known) { return one["type"] == known.type; });
    if (!ours) kept.push_back(std::move(one));
  }
  *list = std::move(kept);
}

}  // namespace

void RemoveProxyVerdicts(const std::vector<VerdictCondition>& conditions, Json* status) {
  RemoveFrom(conditions, status);
  for (const char* list : {"parents", "ancestors"}) {
    const auto found = status->is_object() ? status->find(list) : status->end();
    if (!status->is_object() || found == status->end() || !found->is_array()) continue;
    for (Json& one : *found) RemoveFrom(conditions, &one);
  }
}

void AddProxyVerdicts(const std::vector<config::Diagnostic>& diagnostics,
                      const std::vector<VerdictCondition>& conditions, const config::ObjectStore& objects,
                      std::vector<StatusOf>* statuses) {
  for (const config::Diagnostic& diagnostic : diagnostics) {
    const auto condition =
        std::find_if(conditions.begin(), conditions.end(),
                     [&](const VerdictCondition& one) { return one.code == diagnostic.code; });
    if (condition == conditions.end() || !diagnostic.object) continue;
    const config::ConfigPtr object = objects.Find(*diagnostic.object);
    if (object == nullptr || object->kind() == config::Kind::kIngress) continue;
    auto at = std::find_if(statuses->begin(), statuses->end(),
                           [&](const StatusOf& one) { return KeyOf(*one.object) == *diagnostic.object; });
    if (at == statuses->end()) at = statuses->insert(at, StatusOf{object, Json::object()});
    AddTo(ConditionOf(diagnostic, *condition, *object), &at->status);
  }
}

}  // namespace fairlead::gateway_api
