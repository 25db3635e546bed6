#include "injection/go_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "base/go_bool.h"
#include "base/json.h"
#include "base/strings.h"

namespace fairlead::injection {
namespace {

using Json = nlohmann::json;

// %v of a float64: the shortest text, with an exponent from 1e+06 on and below 1e-04.
std::string GoFloat(double number) {
  if (number == 0) return "0";
  std::array<char, 40> text;
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::scientific).ptr;
  const std::string scientific(text.data(), end);
  const int exponent = std::atoi(scientific.c_str() + scientific.find('e') + 1);
  if (exponent < -4 || exponent >= 6) return scientific;
  const auto fixed = std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  return fixed.ec == std::errc() ? std::string(text.data(), fixed.ptr) : scientific;
}

absl::Status SyntaxError(std::string_view function, std::string_view text, std::string_view why) {
  return absl::InvalidArgumentError(StrCat("strconv.", function, ": parsing ", GoQuote(text), ": ", why));
}

}  // namespace

std::string GoValueText(const Json& value) {
  if (value.is_null()) return "<nil>";
  if (value.is_boolean()) return value == true ? "true" : "false";
  if (const auto* text = value.get_ptr<const std::string*>()) return *text;
  if (value.is_number()) return GoFloat(value.get<double>());
  std::string all = value.is_object() ? "map[" : "[";
  bool first = true;
  for (const auto& [key, member] : value.items()) {
    if (!first) all += ' ';
    first = false;
    if (value.is_object()) StrAppend(&all, key, ":");
    all += GoValueText(member);
  }
  return all + "]";
}

std::string GoQuote(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    const auto code = static_cast<unsigned char>(c);
    switch (c) {
      case '"':
      case '\\':
        out += '\\';
        out += c;
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        if (code < 0x20 || code == 0x7f) {
          constexpr char kHex[] = "0123456789abcdef";
          StrAppend(&out, "\\x", kHex[code / 16], kHex[code % 16]);
        } else {
          out += c;
        }
    }
  }
  return out + "\"";
}

absl::Status CheckGoBool(std::string_view text) {
  return ParseGoBool(text) ? absl::OkStatus() : SyntaxError("ParseBool", text, "invalid syntax");
}

absl::Status CheckGoUnsigned(std::string_view text, int bits) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos)
    return SyntaxError("ParseUint", text, "invalid syntax");
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || (bits < 64 && number >> bits != 0))
    return SyntaxError("ParseUint", text, "value out of range");
  return absl::OkStatus();
}

std::optional<int> ParseGoInt(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string GoErrorList(const std::vector<std::string>& errors) {
  std::string all = errors.size() == 1 ? "1 error occurred:" : StrCat(errors.size(), " errors occurred:");
  for (const std::string& error : errors) StrAppend(&all, "\n\t* ", error);
  return all + "\n\n";
}

}  // namespace fairlead::injection
