#ifndef FAIRLEAD_GATEWAY_API_STATUS_STATUS_TIMES_H_
#define FAIRLEAD_GATEWAY_API_STATUS_STATUS_TIMES_H_

#include <nlohmann/json.hpp>
#include <string>

namespace fairlead::gateway_api {

// Gives each condition of a status that has no lastTransitionTime one: that of the condition of the same
// place, type and status in `before` (an earlier status, or null), else `now` (RFC 3339). Pure.
void SetTransitionTimes(const nlohmann::ordered_json& before, const std::string& now,
                        nlohmann::ordered_json* status);

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_STATUS_STATUS_TIMES_H_
