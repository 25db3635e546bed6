#include "config/cel/literals.h"

#include <charconv>
#include <string>

namespace fairlead::config {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool IsQuote(char c) { return c == '"' || c == '\''; }

size_t CountDigits(std::string_view text) {
  size_t count = 0;
  while (count < text.size() && IsDigit(text[count])) ++count;
  return count;
}

template <typename Number, typename... Base>
std::optional<Number> Parse(std::string_view text, Base... base) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, base...);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

// The digits behind a point, and an exponent; 0 where the number is whole.
size_t SizeOfFraction(std::string_view text) {
  size_t size = 0;
  if (text.starts_with('.')) {
    const size_t digits = CountDigits(text.substr(1));
    if (digits == 0) return 0;
    size = 1 + digits;
  }
  const std::string_view rest = text.substr(size);
  if (!rest.starts_with('e') && !rest.starts_with('E')) return size;
  const size_t sign = rest.size() > 1 && (rest[1] == '+' || rest[1] == '-');
  const size_t digits = CountDigits(rest.substr(1 + sign));
  return digits == 0 ? size : size + 1 + sign + digits;
}

// `rest` is what is behind the digits: a "u" makes the number unsigned.
std::optional<CelValue> ToInteger(std::string_view digits, int base, std::string_view* rest) {
  if (rest->starts_with('u') || rest->starts_with('U')) {
    rest->remove_prefix(1);
    const auto number = Parse<uint64_t>(digits, base);
    if (number && *number > INT64_MAX) return CelValue::Double(static_cast<double>(*number));
  }
  const auto number = Parse<int64_t>(digits, base);
  return number ? std::optional(CelValue::Int(*number)) : std::nullopt;
}

std::optional<CelValue> TakeHex(bool negative, std::string_view* text) {
  size_t size = 2;
  while (size < text->size() && IsHex((*text)[size])) ++size;
  const std::string digits = (negative ? "-" : "") + std::string(text->substr(2, size - 2));
  text->remove_prefix(size);
  return ToInteger(digits, 16, text);
}

void AppendUtf8(uint32_t code, std::string* text) {
  const auto add = [&](uint32_t byte) { text->push_back(static_cast<char>(byte)); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      add(0xE0 | code >> 12);
    } else {
      add(0xF0 | code >> 18);
      add(0x80 | (code >> 12 & 0x3F));
    }
    add(0x80 | (code >> 6 & 0x3F));
  }
  add(0x80 | (code & 0x3F));
}

// What is behind a backslash; false where it means nothing.
bool TakeEscape(bool bytes, std::string_view* rest, std::string* text) {
  constexpr std::string_view kNames = "abfnrtv\\\"'`?", kMeanings = "\a\b\f\n\r\t\v\\\"'`?";
  if (rest->empty()) return false;
  const char c = (*rest)[0];
  if (const size_t which = kNames.find(c); which != std::string_view::npos) {
    text->push_back(kMeanings[which]);
    rest->remove_prefix(1);
    return true;
  }
  const bool octal = c >= '0' && c <= '3';
  const size_t begin = octal ? 0 : 1;
  const size_t digits = octal ? 3 : c == 'x' || c == 'X' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
  if (digits == 0 || rest->size() < begin + digits || (bytes && digits > 3)) return false;
  const auto code = Parse<uint32_t>(rest->substr(begin, digits), octal ? 8 : 16);
  if (!code || *code > 0x10FFFF || (*code >= 0xD800 && *code < 0xE000)) return false;
  bytes ? text->push_back(static_cast<char>(*code)) : AppendUtf8(*code, text);
  rest->remove_prefix(begin + digits);
  return true;
}

}  // namespace

bool BeginsCelNumber(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.starts_with('.')) text.remove_prefix(1);
  return !text.empty() && IsDigit(text[0]);
}

bool BeginsCelText(std::string_view text) {
  if (text.starts_with('b') || text.starts_with('B')) text.remove_prefix(1);
  if (text.starts_with('r') || text.starts_with('R')) text.remove_prefix(1);
  return !text.empty() && IsQuote(text[0]);
}

std::optional<CelValue> TakeCelNumber(std::string_view* text) {
  const size_t sign = text->starts_with('-');
  const std::string_view unsigned_text = text->substr(sign);
  if ((unsigned_text.starts_with("0x") || unsigned_text.starts_with("0X")) && unsigned_text.size() > 2 &&
      IsHex(unsigned_text[2])) {
    text->remove_prefix(sign);
    return TakeHex(sign > 0, text);
  }
  const size_t whole = sign + CountDigits(unsigned_text);
  const size_t fraction = SizeOfFraction(text->substr(whole));
  const std::string_view digits = text->substr(0, whole + fraction);
  text->remove_prefix(digits.size());
  if (fraction > 0) {
    const auto number = Parse<double>(digits);
    return number ? std::optional(CelValue::Double(*number)) : std::nullopt;
  }
  return ToInteger(digits, 10, text);
}

std::optional<CelValue> TakeCelText(std::string_view* text) {
  const bool bytes = text->starts_with('b') || text->starts_with('B');
  if (bytes) text->remove_prefix(1);
  const bool raw = text->starts_with('r') || text->starts_with('R');
  if (raw) text->remove_prefix(1);
  const std::string triple(3, (*text)[0]);
  const bool many_lines = text->starts_with(triple);
  const std::string_view quote = std::string_view(triple).substr(0, many_lines ? 3 : 1);
  text->remove_prefix(quote.size());
  std::string value;
  while (!text->starts_with(quote)) {
    if (text->empty()) return std::nullopt;
    const char c = (*text)[0];
    if (!many_lines && (c == '\n' || c == '\r')) return std::nullopt;
    text->remove_prefix(1);
    if (c != '\\' || raw) {
      value.push_back(c);
    } else if (!TakeEscape(bytes, text, &value)) {
      return std::nullopt;
    }
  }
  text->remove_prefix(quote.size());
  return CelValue::String(value);
}

}  // namespace fairlead::config
