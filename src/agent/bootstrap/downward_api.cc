#include "agent/bootstrap/downward_api.h"

#include <cstdint>
#include <optional>

#include "base/strings.h"

namespace fairlead::agent {
namespace {

int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 16;
}

// Takes `count` digits from the front.
std::optional<uint32_t> TakeNumber(std::string_view* text, size_t count, int base) {
  if (text->size() < count) return std::nullopt;
  uint32_t number = 0;
  for (size_t i = 0; i < count; ++i) {
    const int digit = DigitOf((*text)[i]);
    if (digit >= base) return std::nullopt;
    number = number * static_cast<uint32_t>(base) + static_cast<uint32_t>(digit);
  }
  text->remove_prefix(count);
  return number;
}

void AppendUtf8(uint32_t point, std::string* out) {
  const auto more = [&](int shift) { out->push_back(static_cast<char>(0x80 | ((point >> shift) & 0x3f))); };
  if (point < 0x80) {
    out->push_back(static_cast<char>(point));
  } else if (point < 0x800) {
    out->push_back(static_cast<char>(0xc0 | (point >> 6)));
    more(0);
  } else if (point < 0x10000) {
    out->push_back(static_cast<char>(0xe0 | (point >> 12)));
    more(6);
    more(0);
  } else {
    out->push_back(static_cast<char>(0xf0 | (point >> 18)));
    more(12);
    more(6);
    more(0);
  }
}

// Behind a backslash.
bool TakeEscape(std::string_view* text, std::string* out) {
  if (text->empty()) return false;
  const char kind = text->front();
  constexpr std::string_view kLetters = "abfnrtv\\\"", kMeant = "\a\b\f\n\r\t\v\\\"";
  if (const size_t at = kLetters.find(kind); at != std::string_view::npos) {
    text->remove_prefix(1);
    out->push_back(kMeant[at]);
    return true;
  }
  if (kind >= '0' && kind <= '7') {
    const auto byte = TakeNumber(text, 3, 8);
    if (!byte || *byte > 255) return false;
    out->push_back(static_cast<char>(*byte));
    return true;
  }
  text->remove_prefix(1);
  if (kind == 'x') {
    const auto byte = TakeNumber(text, 2, 16);
    if (byte) out->push_back(static_cast<char>(*byte));
    return byte.has_value();
  }
  if (kind != 'u' && kind != 'U') return false;
  const auto point = TakeNumber(text, kind == 'u' ? 4 : 8, 16);
  if (!point || *point > 0x10ffff || (*point >= 0xd800 && *point < 0xe000)) return false;
  AppendUtf8(*point, out);
  return true;
}

std::optional<std::string> Unquote(std::string_view text) {
  if (text.size() >= 2 && text.front() == '`' && text.find('`', 1) == text.size() - 1)
    return ReplaceAll(text.substr(1, text.size() - 2), "\r", "");
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::string value;
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    if (c == '"') return std::nullopt;
    if (c != '\\') {
      value.push_back(c);
    } else if (!TakeEscape(&text, &value)) {
      return std::nullopt;
    }
  }
  return value;
}

}  // namespace

absl::StatusOr<std::map<std::string, std::string>> ParseDownwardApi(std::string_view text) {
  std::map<std::string, std::string> values;
  int number = 0;
  for (const std::string_view line : Split(text, '\n')) {
    ++number;
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    auto value = Unquote(line.substr(equals + 1));
    if (!value)
      return absl::InvalidArgumentError(
          StrCat("line ", number, ": the value of ", line.substr(0, equals), " is not a quoted text"));
    values[std::string(line.substr(0, equals))] = *std::move(value);
  }
  return values;
}

}  // namespace fairlead::agent
