#include "xds/wire.h"

#include "proto/wire.h"

namespace fairlead::xds {
size_t VarintSize(uint64_t value) {
  size_t size = 1;
  for (; value >= 128; value >>= 7) ++size;
  return size;
}

void AppendString(uint32_t field, std::string_view value, std::string* out) {
  if (!value.empty()) proto::AppendField(static_cast<int>(field), value, out);
}

size_t StringFieldSize(uint32_t field, size_t length) {
  if (length == 0) return 0;
  return VarintSize(uint64_t{field} << 3) + VarintSize(length) + length;
}

}  // namespace fairlead::xds
