#include "agent/xds_fields.h"

#include <cstdint>

namespace fairlead::agent {
namespace {

bool TakeVarint(std::string_view* bytes, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && !bytes->empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes->front());
    bytes->remove_prefix(1);
    *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

}  // namespace

std::string_view FieldOf(std::string_view message, int number) {
  constexpr uint64_t kVarint = 0, kEightBytes = 1, kLength = 2, kFourBytes = 5;
  std::string_view found;
  while (!message.empty()) {
    uint64_t tag = 0, size = 0;
    if (!TakeVarint(&message, &tag)) return {};
    switch (tag & 7) {
      case kVarint:
        if (!TakeVarint(&message, &size)) return {};
        size = 0;
        break;
      case kEightBytes:
        size = 8;
        break;
      case kFourBytes:
        size = 4;
        break;
      case kLength:
        if (!TakeVarint(&message, &size)) return {};
        break;
      default:
        return {};
    }
    if (size > message.size()) return {};
    if ((tag & 7) == kLength && tag >> 3 == static_cast<uint64_t>(number)) found = message.substr(0, size);
    message.remove_prefix(size);
  }
  return found;
}

}  // namespace fairlead::agent
