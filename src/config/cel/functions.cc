#include <re2/re2.h>

#include <charconv>
#include <compare>

#include "base/duration.h"
#include "base/go_url.h"
#include "base/ip_address.h"
#include "base/strings.h"
#include "config/cel/cel.h"

namespace fairlead::config {
namespace {

using Type = CelValue::Type;

CelValue NoOverload(std::string_view name) { return CelValue::Error(StrCat("no such overload: ", name)); }

int64_t CharacterCount(std::string_view utf8) {
  int64_t count = 0;
  for (char c : utf8) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

// The bytes at which the characters begin, the end included.
std::vector<size_t> CharacterStarts(std::string_view utf8) {
  std::vector<size_t> starts;
  for (size_t i = 0; i < utf8.size(); ++i) {
    if ((static_cast<unsigned char>(utf8[i]) & 0xC0) != 0x80) starts.push_back(i);
  }
  starts.push_back(utf8.size());
  return starts;
}

bool IsNumber(const CelValue& value) { return value.type == Type::kInt || value.type == Type::kDouble; }
double AsDouble(const CelValue& value) {
  return value.type == Type::kInt ? static_cast<double>(value.integer) : value.number;
}

CelValue Substring(const std::vector<CelValue>& arguments) {
  const std::vector<size_t> starts = CharacterStarts(arguments[0].text);
  const int64_t length = static_cast<int64_t>(starts.size()) - 1;
  const int64_t begin = arguments[1].integer;
  const int64_t end = arguments.size() > 2 ? arguments[2].integer : length;
  if (begin < 0 || begin > end || end > length) return CelValue::Error("index out of range");
  const size_t from = starts[static_cast<size_t>(begin)], to = starts[static_cast<size_t>(end)];
  return CelValue::String(std::string_view(arguments[0].text).substr(from, to - from));
}

CelValue Matches(std::string_view text, const std::string& pattern) {
  const RE2 expression(pattern, RE2::Quiet);
  if (!expression.ok()) return CelValue::Error(StrCat("bad regular expression ", pattern));
  return CelValue::Bool(RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), expression));
}

CelValue SplitText(std::string_view text, std::string_view separator) {
  if (separator.size() != 1) return CelValue::Error("only split at one character");
  CelValue list;
  list.type = Type::kList;
  for (std::string_view part : Split(text, separator[0])) list.elements.push_back(CelValue::String(part));
  return list;
}

CelValue StringMethod(std::string_view name, const std::vector<CelValue>& arguments) {
  const std::string_view text = arguments[0].text;
  if (arguments.size() == 1) {
    if (name == "size") return CelValue::Int(CharacterCount(text));
    if (name == "lowerAscii") return CelValue::String(AsciiLower(text));
    if (name == "upperAscii") return CelValue::String(AsciiUpper(text));
    return NoOverload(name);
  }
  if (name == "substring" && arguments[1].type == Type::kInt &&
      (arguments.size() == 2 || arguments[2].type == Type::kInt)) {
    return Substring(arguments);
  }
  if (arguments.size() != 2 || arguments[1].type != Type::kString) return NoOverload(name);
  const std::string_view other = arguments[1].text;
  if (name == "contains") return CelValue::Bool(text.find(other) != std::string_view::npos);
  if (name == "startsWith") return CelValue::Bool(text.starts_with(other));
  if (name == "endsWith") return CelValue::Bool(text.ends_with(other));
  if (name == "matches") return Matches(text, arguments[1].text);
  if (name == "split") return SplitText(text, other);
  return NoOverload(name);
}

CelValue UrlMethod(std::string_view name, const std::string& text) {
  const std::optional<GoUrl> url = ParseRequestUri(text);
  if (!url) return CelValue::Error(StrCat("not a URL: ", text));
  if (name == "getScheme") return CelValue::String(url->scheme);
  if (name == "getHost") return CelValue::String(url->host);
  if (name == "getEscapedPath") return CelValue::String(url->path);
  return NoOverload(name);
}

CelValue ToInt(const CelValue& value) {
  if (value.type == Type::kInt) return value;
  if (value.type == Type::kDouble) return CelValue::Int(static_cast<int64_t>(value.number));
  if (value.type != Type::kString) return NoOverload("int");
  int64_t integer = 0;
  const char* end = value.text.data() + value.text.size();
  const auto [stop, code] = std::from_chars(value.text.data(), end, integer);
  if (code != std::errc() || stop != end || value.text.empty())
    return CelValue::Error(StrCat("not an integer: ", value.text));
  return CelValue::Int(integer);
}

CelValue ToDuration(const CelValue& value) {
  if (value.type == Type::kDuration) return value;
  if (value.type != Type::kString) return NoOverload("duration");
  const auto duration = ParseGoDuration(value.text);
  if (!duration) return CelValue::Error(StrCat("not a duration: ", value.text));
  CelValue made = CelValue::Int(duration->count());
  made.type = Type::kDuration;
  return made;
}

CelValue ToUrl(const CelValue& value) {
  if (value.type != Type::kString) return NoOverload("url");
  if (!ParseRequestUri(value.text)) return CelValue::Error(StrCat("not a URL: ", value.text));
  CelValue made = value;
  made.type = Type::kUrl;
  return made;
}

CelValue ToText(const CelValue& value) {
  if (value.type == Type::kString) return value;
  if (value.type == Type::kInt) return CelValue::String(StrCat(value.integer));
  if (value.type == Type::kBool) return CelValue::String(value.truth ? "true" : "false");
  return NoOverload("string");
}

std::partial_ordering Compare(const CelValue& a, const CelValue& b) {
  if (a.type == Type::kDouble || b.type == Type::kDouble) return AsDouble(a) <=> AsDouble(b);
  if (a.type == Type::kString) return a.text <=> b.text;
  if (a.type == Type::kBool) return a.truth <=> b.truth;
  return a.integer <=> b.integer;
}

CelValue Arithmetic(std::string_view name, const CelValue& a, const CelValue& b) {
  if (name == "+" && a.type == Type::kString && b.type == Type::kString)
    return CelValue::String(a.text + b.text);
  if (a.type == Type::kDouble && b.type == Type::kDouble) {
    if (name == "+") return CelValue::Double(a.number + b.number);
    if (name == "-") return CelValue::Double(a.number - b.number);
    if (name == "*") return CelValue::Double(a.number * b.number);
    if (name == "/") return CelValue::Double(a.number / b.number);
  }
  if (a.type != Type::kInt || b.type != Type::kInt) return NoOverload(name);
  int64_t result = 0;
  bool overflow = false;
  if (name == "+") overflow = __builtin_add_overflow(a.integer, b.integer, &result);
  if (name == "-") overflow = __builtin_sub_overflow(a.integer, b.integer, &result);
  if (name == "*") overflow = __builtin_mul_overflow(a.integer, b.integer, &result);
  if (name == "/" || name == "%") {
    if (b.integer == 0) return CelValue::Error("division by zero");
    overflow = a.integer == INT64_MIN && b.integer == -1;
    if (!overflow) result = name == "/" ? a.integer / b.integer : a.integer % b.integer;
  }
  return overflow ? CelValue::Error("integer overflow") : CelValue::Int(result);
}

}  // namespace

CelValue CallCel(std::string_view name, bool method, const std::vector<CelValue>& arguments) {
  if (arguments.empty()) return NoOverload(name);
  const CelValue& first = arguments[0];
  if (name == "size" && arguments.size() == 1 && (first.type == Type::kList || first.type == Type::kMap))
    return CelValue::Int(static_cast<int64_t>(first.size()));
  if (method || name == "size" || name == "matches") {
    if (first.type == Type::kString) return StringMethod(name, arguments);
    if (first.type == Type::kUrl && arguments.size() == 1) return UrlMethod(name, first.text);
    return NoOverload(name);
  }
  if (arguments.size() != 1) return NoOverload(name);
  if (name == "int") return ToInt(first);
  if (name == "duration") return ToDuration(first);
  if (name == "string") return ToText(first);
  if (name == "url") return ToUrl(first);
  if (name == "isIP" && first.type == Type::kString) return CelValue::Bool(IsIpAddress(first.text));
  if (name == "isURL" && first.type == Type::kString)
    return CelValue::Bool(ParseRequestUri(first.text).has_value());
  return NoOverload(name);
}

CelValue OperateCel(std::string_view name, std::span<const CelValue> operands) {
  const CelValue& a = operands[0];
  if (operands.size() == 1) {
    if (name == "!" && a.type == Type::kBool) return CelValue::Bool(!a.truth);
    if (name == "neg" && a.type == Type::kInt && a.integer != INT64_MIN) return CelValue::Int(-a.integer);
    if (name == "neg" && a.type == Type::kDouble) return CelValue::Double(-a.number);
    return NoOverload(name);
  }
  const CelValue& b = operands[1];
  if (name == "==") return CelValue::Bool(a == b);
  if (name == "!=") return CelValue::Bool(!(a == b));
  if (name.find_first_of("<>") == std::string_view::npos) return Arithmetic(name, a, b);
  const bool ordered = a.type == Type::kString || a.type == Type::kBool || a.type == Type::kInt ||
                       a.type == Type::kDouble || a.type == Type::kDuration;
  if (!ordered || (a.type != b.type && !(IsNumber(a) && IsNumber(b)))) return NoOverload(name);
  const std::partial_ordering order = Compare(a, b);
  if (name == "<") return CelValue::Bool(std::is_lt(order));
  if (name == "<=") return CelValue::Bool(std::is_lteq(order));
  if (name == ">") return CelValue::Bool(std::is_gt(order));
  return CelValue::Bool(std::is_gteq(order));
}

}  // namespace fairlead::config
