#include "gateway_api/status/status_times.h"

#include <algorithm>

namespace fairlead::gateway_api {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kTime = "lastTransitionTime";

const Json& Member(const Json& value, const std::string& key) {
  static const Json none;
  const auto found = value.is_object() ? value.find(key) : value.end();
  return value.is_object() && found != value.end() ? *found : none;
}

// Whether two entries of a list are about the same: a listener, a parent, an ancestor, a type of conditions.
bool AboutTheSame(const Json& a, const Json& b) {
  bool named = false;
  for (const char* key : {"name", "parentRef", "ancestorRef", "controllerName", "type"}) {
    named = named || !Member(a, key).is_null();
    if (Member(a, key) != Member(b, key)) return false;
  }
  return named;
}

const Json& Counterpart(const Json& entry, const Json& before) {
  static const Json none;
  if (!before.is_array()) return none;
  const auto found = std::find_if(before.begin(), before.end(),
                                  [&entry](const Json& one) { return AboutTheSame(entry, one); });
  return found == before.end() ? none : *found;
}

}  // namespace

void SetTransitionTimes(const Json& before, const std::string& now, Json* status) {
  if (status->is_array()) {
    for (Json& entry : *status) SetTransitionTimes(Counterpart(entry, before), now, &entry);
    return;
  }
  if (!status->is_object()) return;
  const bool condition = !Member(*status, "type").is_null() && !Member(*status, "reason").is_null();
  if (condition && Member(*status, kTime).is_null()) {
    const Json& time = Member(before, kTime);
    const bool same = !time.is_null() && Member(before, "status") == Member(*status, "status");
    (*status)[kTime] = same ? time : Json(now);
  }
  for (const auto& [key, member] : status->items()) SetTransitionTimes(Member(before, key), now, &member);
}

}  // namespace fairlead::gateway_api
