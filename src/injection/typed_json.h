#ifndef FAIRLEAD_INJECTION_TYPED_JSON_H_
#define FAIRLEAD_INJECTION_TYPED_JSON_H_

#include <nlohmann/json.hpp>
#include <string_view>

#include "absl/status/statusor.h"
#include "config/tree.h"
#include "injection/kubernetes_types.h"

namespace fairlead::injection {

using Json = nlohmann::json;

// A value as Go reads it into a Kubernetes type and writes it again: unknown fields are gone, empty ones are
// left out or not as the type says, quantities have their canonical form. What Go writes as null is left out.
// InvalidArgument with the text of encoding/json where the value does not fit the type. Pure.
absl::StatusOr<Json> ReadTyped(const Json& value, const GoStruct& type);

// A document as JSON; absent is null. REQUIRES: at most as deep as config's readers allow.
Json ToSortedJson(config::Node node);

// A JSON text of at most 200 levels. InvalidArgument with the text of encoding/json where it is none.
absl::StatusOr<Json> ReadJson(std::string_view text);
// One YAML document; JSON is YAML. InvalidArgument names the line.
absl::StatusOr<Json> ReadYaml(std::string_view text);

// The member of an object; null where there is none.
const Json& Member(const Json& object, std::string_view name);
// Members of members.
const Json& Member(const Json& object, std::string_view first, std::string_view second);
// A text, or "".
std::string TextOf(const Json& value);
std::string TextOf(const Json& object, std::string_view name);

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_TYPED_JSON_H_
