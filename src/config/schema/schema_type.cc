#include "config/schema/schema_type.h"

#include <algorithm>

namespace fairlead::config {

std::string_view NameOfSchemaType(std::string_view type) {
  if (type == "object") return "a mapping";
  if (type == "array") return "a list";
  if (type == "integer") return "an integer";
  if (type == "number") return "a number";
  if (type == "boolean") return "a boolean";
  return "a string";
}

bool HasSchemaType(Node value, std::string_view type) {
  if (type == "object") return value.IsMapping();
  if (type == "array") return value.IsSequence();
  if (type == "string") return value.IsString();
  if (type == "boolean") return value.type() == NodeType::kBool;
  if (type == "integer") return value.Int().has_value();
  if (type == "number") return value.Double().has_value();
  return true;
}

int64_t LengthOf(std::string_view utf8) {
  return std::count_if(utf8.begin(), utf8.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

}  // namespace fairlead::config
