#include "proto/wire.h"

namespace fairlead::proto {
namespace {

constexpr uint64_t kVarintType = 0;
constexpr uint64_t kLengthDelimitedType = 2;

uint64_t Tag(int number, uint64_t type) { return static_cast<uint64_t>(number) << 3 | type; }

}  // namespace

void AppendVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

void AppendLength(int number, size_t length, std::string* out) {
  AppendVarint(Tag(number, kLengthDelimitedType), out);
  AppendVarint(length, out);
}

void AppendField(int number, std::string_view value, std::string* out) {
  AppendLength(number, value.size(), out);
  out->append(value);
}

void AppendBool(int number, bool value, std::string* out) {
  if (!value) return;
  AppendVarint(Tag(number, kVarintType), out);
  out->push_back(1);
}

}  // namespace fairlead::proto
