#include "injection/quantity.h"

#include <charconv>
#include <optional>

#include "base/strings.h"

namespace fairlead::injection {
namespace {

constexpr char kFormatWrong[] =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
constexpr char kSuffixWrong[] = "unable to parse quantity's suffix";

enum class Scale { kDecimal, kBinary, kExponent };
struct Suffix {
  std::string_view text;
  Scale scale;
  int exponent;
};
constexpr Suffix kSuffixes[] = {
    {"n", Scale::kDecimal, -9}, {"u", Scale::kDecimal, -6}, {"m", Scale::kDecimal, -3},
    {"", Scale::kDecimal, 0},   {"k", Scale::kDecimal, 3},  {"M", Scale::kDecimal, 6},
    {"G", Scale::kDecimal, 9},  {"T", Scale::kDecimal, 12}, {"P", Scale::kDecimal, 15},
    {"E", Scale::kDecimal, 18}, {"Ki", Scale::kBinary, 10}, {"Mi", Scale::kBinary, 20},
    {"Gi", Scale::kBinary, 30}, {"Ti", Scale::kBinary, 40}, {"Pi", Scale::kBinary, 50},
    {"Ei", Scale::kBinary, 60},
};

struct Parts {
  bool negative = false;
  std::string digits;  // of both sides of the point
  int fraction = 0;    // digits behind it
  Suffix suffix{};
};

std::optional<Suffix> ReadSuffix(std::string_view text) {
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.text == text) return suffix;
  }
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return std::nullopt;
  text.remove_prefix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  int exponent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (error != std::errc() || end != text.data() + text.size() || exponent > 100 || exponent < -100)
    return std::nullopt;
  return Suffix{"e", Scale::kExponent, exponent};
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

absl::StatusOr<Parts> Read(std::string_view text) {
  Parts parts;
  std::string_view rest = text;
  if (rest.starts_with('-') || rest.starts_with('+')) {
    parts.negative = rest[0] == '-';
    rest.remove_prefix(1);
  }
  bool point = false;
  while (!rest.empty() && (IsDigit(rest[0]) || (rest[0] == '.' && !point))) {
    if (rest[0] == '.') {
      point = true;
    } else {
      parts.digits += rest[0];
      if (point) ++parts.fraction;
    }
    rest.remove_prefix(1);
  }
  const size_t letters = rest.find_first_not_of("eEinumkKMGTP");
  if (text.empty() || (letters != std::string_view::npos &&
                       rest.find_first_not_of("+-0123456789", letters) != std::string_view::npos))
    return absl::InvalidArgumentError(kFormatWrong);
  if (parts.digits.empty()) return absl::InvalidArgumentError(kFormatWrong);
  const std::optional<Suffix> suffix = ReadSuffix(rest);
  if (!suffix) return absl::InvalidArgumentError(kSuffixWrong);
  parts.suffix = *suffix;
  return parts;
}

using Wide = __int128;

std::string Text(bool negative, Wide number) {
  std::string digits;
  do digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(number % 10)));
  while ((number /= 10) > 0);
  return StrCat(negative ? "-" : "", digits);
}

// number * 10^exponent with the suffix that leaves no fraction; nothing finer than a nano, rounded away from
// zero.
std::string Decimal(bool negative, Wide number, int exponent, Scale scale) {
  for (; exponent < -9; ++exponent) number = (number + 9) / 10;
  if (number == 0) return "0";
  for (; number % 10 == 0; number /= 10) ++exponent;
  const int most = scale == Scale::kExponent ? 90 : 18;
  for (; exponent % 3 != 0 || exponent > most; number *= 10) --exponent;
  const std::string text = Text(negative, number);
  if (scale == Scale::kExponent) return exponent == 0 ? text : StrCat(text, "e", exponent);
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.scale == Scale::kDecimal && suffix.exponent == exponent)
      return text + std::string(suffix.text);
  }
  return text;
}

std::string Binary(bool negative, Wide number) {
  int exponent = 0;
  for (; number % 1024 == 0 && exponent < 60; number /= 1024) exponent += 10;
  std::string text = Text(negative, number);
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.scale == Scale::kBinary && suffix.exponent == exponent) text += suffix.text;
  }
  return text;
}

}  // namespace

absl::StatusOr<std::string> CanonicalQuantity(std::string_view text) {
  absl::StatusOr<Parts> parts = Read(text);
  if (!parts.ok()) return parts.status();
  std::string& digits = parts->digits;
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.size() > 18) return std::string(text);
  Wide number = 0;
  for (char c : digits) number = number * 10 + (c - '0');
  if (parts->suffix.scale != Scale::kBinary)
    return Decimal(parts->negative, number, parts->suffix.exponent - parts->fraction, parts->suffix.scale);
  Wide divisor = 1;
  for (int i = 0; i < parts->fraction; ++i) divisor *= 10;
  number <<= parts->suffix.exponent;
  number = (number + divisor - 1) / divisor;
  if (number < 1024) return Decimal(parts->negative, number, 0, Scale::kDecimal);
  return Binary(parts->negative, number);
}

}  // namespace fairlead::injection
