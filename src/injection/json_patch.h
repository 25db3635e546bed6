#ifndef FAIRLEAD_INJECTION_JSON_PATCH_H_
#define FAIRLEAD_INJECTION_JSON_PATCH_H_

#include <nlohmann/json.hpp>

namespace fairlead::injection {

// The operations (RFC 6902) that make `after` of `sent`, with the least paths that differ. What `before` and
// `after` have alike stays as it was sent: `before` is `sent` as it was read, which lacks what nobody knows
// and has fields that are empty. Pure.
nlohmann::json MakeJsonPatch(const nlohmann::json& sent, const nlohmann::json& before,
                             const nlohmann::json& after);

// What such operations make of the object that was sent. Pure.
nlohmann::json Patched(nlohmann::json sent, const nlohmann::json& operations);

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_JSON_PATCH_H_
