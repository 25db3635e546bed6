#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <charconv>

namespace fairlead {
namespace {

constexpr size_t kDigits = 16;  // of a number of 64 bits

bool ParseNumber(std::string_view text, uint64_t* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value, 16);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Hash128& Hash128::operator+=(const Hash128& other) {
  low += other.low;
  high += other.high + (low < other.low ? 1 : 0);
  return *this;
}

Hash128 StableHash(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

Hash128 StableHash(const Hash128& first, const Hash128& second) {
  const std::array<uint64_t, 4> numbers = {first.high, first.low, second.high, second.low};
  const XXH128_hash_t hash = XXH3_128bits(numbers.data(), sizeof numbers);
  return {hash.high64, hash.low64};
}

std::string ToHex(uint64_t value) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out(kDigits, '0');
  for (size_t i = kDigits; i-- > 0; value >>= 4) out[i] = kHex[value & 15];
  return out;
}

std::string ToHex(const Hash128& hash) { return ToHex(hash.high) + ToHex(hash.low); }

bool ParseHex(std::string_view text, Hash128* hash) {
  Hash128 read;
  if (text.size() != 2 * kDigits || !ParseNumber(text.substr(0, kDigits), &read.high) ||
      !ParseNumber(text.substr(kDigits), &read.low))
    return false;
  *hash = read;
  return true;
}

}  // namespace fairlead
