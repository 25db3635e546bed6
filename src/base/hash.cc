#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <charconv>

namespace fairlead {

uint64_t StableHash(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::string ToHex(uint64_t value) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out(16, '0');
  for (int i = 15; i >= 0; --i, value >>= 4) out[static_cast<size_t>(i)] = kDigits[value & 15];
  return out;
}

bool ParseHex(std::string_view text, uint64_t* value) {
  if (text.size() != 16) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value, 16);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace fairlead
