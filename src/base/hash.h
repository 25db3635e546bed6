#ifndef FAIRLEAD_BASE_HASH_H_
#define FAIRLEAD_BASE_HASH_H_

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace fairlead {

// A hash wide enough to stand for what was hashed: of all that a mesh ever sends, no two differ and have one.
struct Hash128 {
  uint64_t high = 0, low = 0;

  friend auto operator<=>(const Hash128&, const Hash128&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Hash128& hash) {
    return H::combine(std::move(h), hash.high, hash.low);
  }
  // Their sum modulo 2^128: of many, whatever the order.
  Hash128& operator+=(const Hash128& other);
};

// XXH3 of the bytes: the same in every process and replica, so that it may go into versions that are sent.
Hash128 StableHash(std::string_view bytes);
// Of the two, in this order.
Hash128 StableHash(const Hash128& first, const Hash128& second);

// 32 lower-case hexadecimal digits, and back; 16 of a shorter number. ParseHex gives false for anything else,
// and leaves `hash` as it was.
std::string ToHex(const Hash128& hash);
std::string ToHex(uint64_t value);
bool ParseHex(std::string_view text, Hash128* hash);

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_HASH_H_
