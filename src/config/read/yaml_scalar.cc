#include "config/read/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

#include "base/strings.h"

namespace fairlead::config {
namespace {

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

template <size_t N>
bool IsOneOf(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

constexpr std::array<std::string_view, 11> kTrue = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                                    "True", "TRUE", "on",  "On",  "ON"};
constexpr std::array<std::string_view, 11> kFalse = {"n",     "N",     "no",  "No",  "NO", "false",
                                                     "False", "FALSE", "off", "Off", "OFF"};
constexpr std::array<std::string_view, 4> kNull = {"~", "null", "Null", "NULL"};

// Words of more than five letters, or that begin with another letter, are the common case and are strings.
std::optional<ScalarMeaning> ResolveWord(std::string_view text) {
  if (text.size() > 5) return std::nullopt;
  if (IsOneOf(text, kTrue)) return ScalarMeaning{NodeType::kBool, "true"};
  if (IsOneOf(text, kFalse)) return ScalarMeaning{NodeType::kBool, "false"};
  if (IsOneOf(text, kNull)) return ScalarMeaning{NodeType::kNull, ""};
  return std::nullopt;
}

// Go's base 0: 0x, 0o, 0b and a leading 0 for octal.
int TakeBase(std::string_view& digits) {
  if (digits.size() < 2 || digits[0] != '0') return 10;
  const char mark = static_cast<char>(digits[1] | 0x20);
  if (mark == 'x' || mark == 'o' || mark == 'b') {
    digits.remove_prefix(2);
    return mark == 'x' ? 16 : mark == 'o' ? 8 : 2;
  }
  digits.remove_prefix(1);
  return 8;
}

// An integer within int64 or uint64 in decimal; nothing where the text is none.
std::optional<std::string_view> CanonicalInteger(std::string_view text, std::string& storage) {
  std::string_view digits = text;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  const int base = TakeBase(digits);
  if (digits.empty()) return std::nullopt;
  uint64_t magnitude = 0;
  const char* end = digits.data() + digits.size();
  auto [at, error] = std::from_chars(digits.data(), end, magnitude, base);
  if (error != std::errc() || at != end) return std::nullopt;
  constexpr uint64_t kLargestNegative = uint64_t{1} << 63;
  if (negative && magnitude > kLargestNegative) return std::nullopt;
  const bool sign_of_unsigned = text.starts_with('+') && magnitude >= kLargestNegative;
  if (sign_of_unsigned) return std::nullopt;
  if (base == 10 && !text.starts_with('+') && !(negative && magnitude == 0)) return text;
  storage = StrCat(negative && magnitude != 0 ? "-" : "", magnitude);
  return storage;
}

void SkipDigits(std::string_view& text) {
  while (!text.empty() && IsDigit(text.front())) text.remove_prefix(1);
}

// [-+]? (\.[0-9]+ | [0-9]+ (\.[0-9]*)?) ([eE][-+]?[0-9]+)?
bool IsFloat(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const size_t whole = text.size();
  SkipDigits(text);
  bool digits = text.size() < whole;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    const size_t fraction = text.size();
    SkipDigits(text);
    digits = digits || text.size() < fraction;
  }
  if (!digits) return false;
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    if (text.empty() || !IsDigit(text.front())) return false;
    SkipDigits(text);
  }
  return text.empty();
}

// Within a double's range: 1e400 is not.
bool IsFinite(std::string_view number) {
  if (number.starts_with('+')) number.remove_prefix(1);
  double value = 0;
  return std::from_chars(number.data(), number.data() + number.size(), value).ec == std::errc();
}

std::optional<ScalarMeaning> ResolveSpecialFloat(std::string_view text) {
  const bool negative = text.starts_with('-');
  std::string_view name = text;
  if (negative || text.starts_with('+')) name.remove_prefix(1);
  if (name == ".inf" || name == ".Inf" || name == ".INF") {
    return ScalarMeaning{NodeType::kFloat, negative ? "-.inf" : ".inf"};
  }
  if (text == ".nan" || text == ".NaN" || text == ".NAN") return ScalarMeaning{NodeType::kFloat, ".nan"};
  return std::nullopt;
}

ScalarMeaning ResolveNumber(std::string_view text, std::string& storage) {
  if (auto special = ResolveSpecialFloat(text)) return *special;
  if (text.find('_') != std::string_view::npos) {
    std::string plain = ReplaceAll(text, "_", "");
    std::string rewritten;
    const ScalarMeaning meaning = ResolveNumber(plain, rewritten);
    if (meaning.type == NodeType::kString) return {NodeType::kString, text};
    storage = std::string(meaning.text);
    return {meaning.type, storage};
  }
  if (auto integer = CanonicalInteger(text, storage)) return {NodeType::kInt, *integer};
  if (IsFloat(text) && IsFinite(text)) return {NodeType::kFloat, text};
  return {NodeType::kString, text};
}

}  // namespace

ScalarMeaning ResolvePlainScalar(std::string_view text, std::string& storage) {
  if (text.empty()) return {NodeType::kNull, ""};
  const char first = text.front();
  if (IsDigit(first) || first == '-' || first == '+' || first == '.') return ResolveNumber(text, storage);
  if (auto word = ResolveWord(text)) return *word;
  return {NodeType::kString, text};
}

}  // namespace fairlead::config
