#include "base/time_text.h"

#include <chrono>

#include "base/duration.h"

namespace fairlead {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::optional<int> TakeNumber(std::string_view& text, size_t digits) {
  int value = 0;
  if (text.size() < digits) return std::nullopt;
  for (size_t i = 0; i < digits; ++i) {
    if (!IsDigit(text[i])) return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool TakeChar(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

bool IsLeap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

int DaysOfMonth(int year, int month) {
  static constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && IsLeap(year) ? 29 : kDays[month - 1];
}

// Days since 1970-01-01 in the proleptic Gregorian calendar.
int64_t DaysSinceEpoch(int year, int month, int day) {
  const int64_t before = year - 1;
  int64_t days = before * 365 + before / 4 - before / 100 + before / 400;
  for (int m = 1; m < month; ++m) days += DaysOfMonth(year, m);
  constexpr int64_t kDaysUntil1970 = 719'162;
  return days + day - 1 - kDaysUntil1970;
}

// "2026-01-02" as days since 1970.
std::optional<int64_t> TakeDate(std::string_view& text) {
  const auto year = TakeNumber(text, 4);
  if (!year || *year < 1 || !TakeChar(text, '-')) return std::nullopt;
  const auto month = TakeNumber(text, 2);
  if (!month || *month < 1 || *month > 12 || !TakeChar(text, '-')) return std::nullopt;
  const auto day = TakeNumber(text, 2);
  if (!day || *day < 1 || *day > DaysOfMonth(*year, *month)) return std::nullopt;
  return DaysSinceEpoch(*year, *month, *day);
}

// "03:04:05" as seconds.
std::optional<int> TakeClock(std::string_view& text) {
  const auto hour = TakeNumber(text, 2);
  if (!hour || *hour > 23 || !TakeChar(text, ':')) return std::nullopt;
  const auto minute = TakeNumber(text, 2);
  if (!minute || *minute > 59 || !TakeChar(text, ':')) return std::nullopt;
  const auto second = TakeNumber(text, 2);
  if (!second || *second > 59) return std::nullopt;
  return (*hour * 60 + *minute) * 60 + *second;
}

std::optional<int32_t> TakeFraction(std::string_view& text) {
  if (!TakeChar(text, '.')) return 0;
  int32_t nanos = 0, unit = 100'000'000;
  size_t digits = 0;
  for (; !text.empty() && IsDigit(text.front()); text.remove_prefix(1), ++digits, unit /= 10) {
    nanos += (text.front() - '0') * unit;
  }
  if (digits == 0) return std::nullopt;
  return nanos;
}

// "Z" or "+02:00" as seconds east of Greenwich.
std::optional<int> TakeZone(std::string_view& text) {
  if (TakeChar(text, 'Z') || TakeChar(text, 'z')) return 0;
  const bool west = text.starts_with('-');
  if (!TakeChar(text, '-') && !TakeChar(text, '+')) return std::nullopt;
  const auto hours = TakeNumber(text, 2);
  if (!hours || *hours > 23 || !TakeChar(text, ':')) return std::nullopt;
  const auto minutes = TakeNumber(text, 2);
  if (!minutes || *minutes > 59) return std::nullopt;
  const int seconds = (*hours * 60 + *minutes) * 60;
  return west ? -seconds : seconds;
}

}  // namespace

std::optional<SecondsAndNanos> ParseDuration(std::string_view text) {
  const std::optional<std::chrono::nanoseconds> duration = ParseGoDuration(text);
  if (!duration) return std::nullopt;
  constexpr int64_t kSecond = 1'000'000'000;
  return SecondsAndNanos{duration->count() / kSecond, static_cast<int32_t>(duration->count() % kSecond)};
}

std::optional<SecondsAndNanos> ParseTimestamp(std::string_view text) {
  const auto days = TakeDate(text);
  if (!days || (!TakeChar(text, 'T') && !TakeChar(text, 't'))) return std::nullopt;
  const auto clock = TakeClock(text);
  if (!clock) return std::nullopt;
  const auto nanos = TakeFraction(text);
  if (!nanos) return std::nullopt;
  const auto zone = TakeZone(text);
  if (!zone || !text.empty()) return std::nullopt;
  return SecondsAndNanos{*days * 86'400 + *clock - *zone, *nanos};
}

}  // namespace fairlead
