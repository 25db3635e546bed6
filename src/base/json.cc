#include "base/json.h"

#include <utility>

namespace fairlead {
namespace {

template <typename Json>
std::string Text(const Json& value, int indent) {
  return value.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

template <typename Json>
std::optional<Json> Parse(std::string_view text) {
  Json value = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return std::nullopt;
  return value;
}

}  // namespace

std::string JsonText(const nlohmann::json& value, int indent) { return Text(value, indent); }
std::string JsonText(const nlohmann::ordered_json& value, int indent) { return Text(value, indent); }

std::optional<nlohmann::json> ParseJson(std::string_view text) { return Parse<nlohmann::json>(text); }
std::optional<nlohmann::ordered_json> ParseOrderedJson(std::string_view text) {
  return Parse<nlohmann::ordered_json>(text);
}

std::string JsonString(const nlohmann::json& object, const std::string& key) {
  const auto found = object.find(key);  // end() where it is no object
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace fairlead
