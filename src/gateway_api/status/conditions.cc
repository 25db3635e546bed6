#include "gateway_api/status/conditions.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "config/read/tree_json.h"

namespace fairlead::gateway_api {
namespace {

using config::Node;
using Json = nlohmann::ordered_json;

std::string_view TextOf(bool status) { return status ? "True" : "False"; }

bool SaysTheSame(Node existing, int64_t generation, const DraftCondition& draft) {
  return existing.Find("status").text() == TextOf(draft.status) &&
         existing.Find("message").text() == draft.message &&
         existing.Find("observedGeneration").Int().value_or(0) == generation;
}

Json NewCondition(Node existing, int64_t generation, const DraftCondition& draft) {
  Json condition;
  condition["type"] = draft.type;
  condition["status"] = TextOf(draft.status);
  condition["reason"] = draft.reason;
  condition["message"] = draft.message;
  if (generation != 0) condition["observedGeneration"] = generation;
  const Node time = existing.Find("lastTransitionTime");
  if (!time.IsNull() && existing.Find("status").text() == TextOf(draft.status))
    condition["lastTransitionTime"] = time.text();
  return condition;
}

}  // namespace

Json MergedConditions(Node existing, int64_t generation, std::vector<DraftCondition> drafts) {
  Json merged = Json::array();
  for (Node one : existing.elements()) {
    const auto ours = std::find_if(drafts.begin(), drafts.end(), [one](const DraftCondition& draft) {
      return draft.type == one.Find("type").text();
    });
    if (ours == drafts.end()) {
      merged.push_back(config::ToJson(one));
      continue;
    }
    merged.push_back(SaysTheSame(one, generation, *ours) ? config::ToJson(one)
                                                         : NewCondition(one, generation, *ours));
    drafts.erase(ours);
  }
  std::sort(drafts.begin(), drafts.end(),
            [](const DraftCondition& a, const DraftCondition& b) { return a.type < b.type; });
  for (const DraftCondition& draft : drafts) merged.push_back(NewCondition(Node(), generation, draft));
  return merged;
}

}  // namespace fairlead::gateway_api
