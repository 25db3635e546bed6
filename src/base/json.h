#ifndef FAIRLEAD_BASE_JSON_H_
#define FAIRLEAD_BASE_JSON_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

// JSON texts without exceptions. The library throws at texts that are no JSON, at strings that are no UTF-8
// and at values of another type than asked for; everything of ours that reads or writes JSON goes through
// here.
namespace fairlead {

// The text of a value, on one line or indented. What is not UTF-8 is shown as U+FFFD.
std::string JsonText(const nlohmann::json& value, int indent = -1);
std::string JsonText(const nlohmann::ordered_json& value, int indent = -1);

// The value that a text holds; none where it is no JSON.
std::optional<nlohmann::json> ParseJson(std::string_view text);
std::optional<nlohmann::ordered_json> ParseOrderedJson(std::string_view text);

// A string member of an object; "" where it is absent or no string.
std::string JsonString(const nlohmann::json& object, const std::string& key);

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_JSON_H_
