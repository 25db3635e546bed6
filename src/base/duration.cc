#include "base/duration.h"

#include <cstdint>
#include <limits>
#include <utility>

namespace fairlead {
namespace {

constexpr std::pair<std::string_view, int64_t> kUnits[] = {
    {"ns", 1},         {"us", 1'000},        {"µs", 1'000},         {"μs", 1'000},
    {"ms", 1'000'000}, {"s", 1'000'000'000}, {"m", 60'000'000'000}, {"h", 3'600'000'000'000},
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

struct Number {
  __int128 whole = 0;
  __int128 fraction = 0;
  __int128 scale = 1;  // the fraction is fraction/scale
};

// Digits with at most one point; false where there is not one digit, or too many.
bool TakeNumber(std::string_view* text, Number* number) {
  bool digits = false;
  for (; !text->empty() && IsDigit(text->front()); text->remove_prefix(1), digits = true) {
    number->whole = number->whole * 10 + (text->front() - '0');
    if (number->whole > std::numeric_limits<int64_t>::max()) return false;
  }
  if (!text->empty() && text->front() == '.') {
    text->remove_prefix(1);
    for (; !text->empty() && IsDigit(text->front()); text->remove_prefix(1), digits = true) {
      if (number->scale > 1'000'000'000'000'000'000)
        continue;  // beyond a nanosecond's reach, whatever the unit
      number->fraction = number->fraction * 10 + (text->front() - '0');
      number->scale *= 10;
    }
  }
  return digits;
}

std::optional<int64_t> TakeUnit(std::string_view* text) {
  size_t length = 0;
  while (length < text->size() && (*text)[length] != '.' && !IsDigit((*text)[length])) ++length;
  const std::string_view name = text->substr(0, length);
  text->remove_prefix(length);
  for (const auto& [unit, nanoseconds] : kUnits) {
    if (name == unit) return nanoseconds;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::chrono::nanoseconds> ParseGoDuration(std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  if (text == "0") return std::chrono::nanoseconds(0);
  if (text.empty()) return std::nullopt;
  __int128 total = 0;
  while (!text.empty()) {
    Number number;
    if (!TakeNumber(&text, &number)) return std::nullopt;
    const std::optional<int64_t> unit = TakeUnit(&text);
    if (!unit) return std::nullopt;
    total += number.whole * *unit + number.fraction * *unit / number.scale;
    if (total > std::numeric_limits<int64_t>::max()) return std::nullopt;
  }
  return std::chrono::nanoseconds(static_cast<int64_t>(negative ? -total : total));
}

}  // namespace fairlead
