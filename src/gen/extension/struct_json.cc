#include "gen/extension/struct_json.h"

#include <google/protobuf/struct.pb.h>

#include <charconv>
#include <cmath>
#include <map>
#include <string_view>

namespace fairlead::gen::extension {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

constexpr char kHexDigits[] = "0123456789abcdef";

void AppendString(std::string_view text, std::string* out) {
  out->push_back('"');
  for (const char c : text) {
    constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt";
    if (const size_t at = kEscaped.find(c); at != std::string_view::npos) {
      out->push_back('\\');
      out->push_back(kLetters[at]);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out->append("\\u00");
      out->push_back(kHexDigits[c >> 4]);
      out->push_back(kHexDigits[c & 0xf]);
    } else {
      out->push_back(c);
    }
  }
  out->push_back('"');
}

// An exponent where there are more than 21 digits before the point, or six zeros behind it; without zeros
// in front of its own digits.
void AppendNumber(double number, std::string* out) {
  const double size = std::abs(number);
  const bool exponent = size != 0 && (size < 1e-6 || size >= 1e21);
  char digits[400];
  const auto [end, error] =
      std::to_chars(std::begin(digits), std::end(digits), number,
                    exponent ? std::chars_format::scientific : std::chars_format::fixed);
  std::string_view text(digits, static_cast<size_t>(end - digits));
  const size_t e = text.find('e');
  if (e == std::string_view::npos) return static_cast<void>(out->append(text));
  out->append(text.substr(0, e + 2));
  text.remove_prefix(e + 2);
  while (text.size() > 1 && text.front() == '0') text.remove_prefix(1);
  out->append(text);
}

void AppendStruct(const Struct& value, std::string* out);

void AppendValue(const Value& value, std::string* out) {
  switch (value.kind_case()) {
    case Value::kNumberValue:
      return AppendNumber(value.number_value(), out);
    case Value::kStringValue:
      return AppendString(value.string_value(), out);
    case Value::kBoolValue:
      return static_cast<void>(out->append(value.bool_value() ? "true" : "false"));
    case Value::kStructValue:
      return AppendStruct(value.struct_value(), out);
    case Value::kListValue: {
      char separator = '[';
      for (const Value& element : value.list_value().values()) {
        out->push_back(separator);
        AppendValue(element, out);
        separator = ',';
      }
      if (separator == '[') out->push_back('[');
      return out->push_back(']');
    }
    default:
      return static_cast<void>(out->append("null"));
  }
}

void AppendStruct(const Struct& value, std::string* out) {
  std::map<std::string_view, const Value*> sorted;
  for (const auto& [key, field] : value.fields()) sorted.emplace(key, &field);
  char separator = '{';
  for (const auto& [key, field] : sorted) {
    out->push_back(separator);
    AppendString(key, out);
    out->push_back(':');
    AppendValue(*field, out);
    separator = ',';
  }
  if (separator == '{') out->push_back('{');
  out->push_back('}');
}

}  // namespace

std::string StructJson(const Struct& value) {
  std::string out;
  AppendStruct(value, &out);
  return out;
}

}  // namespace fairlead::gen::extension
