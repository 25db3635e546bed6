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

}  // namespace

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
    auto at = std::find_if(statuses->begin(), statuses->end(), [&](const StatusOf& one) {
      return KeyOf(*one.object) == *diagnostic.object;
    });
    if (at == statuses->end()) at = statuses->insert(at, StatusOf{object, Json::object()});
    AddTo(ConditionOf(diagnostic, *condition, *object), &at->status);
  }
}

}  // namespace fairlead::gateway_api
