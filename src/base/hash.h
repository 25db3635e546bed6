#ifndef FAIRLEAD_BASE_HASH_H_
#define FAIRLEAD_BASE_HASH_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace fairlead {

// XXH3 of the bytes: the same in every process and replica, so that it may go into versions that are sent.
uint64_t StableHash(std::string_view bytes);

// 16 lower-case hexadecimal digits, and back. ParseHex gives false for anything else.
std::string ToHex(uint64_t value);
bool ParseHex(std::string_view text, uint64_t* value);

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_HASH_H_
