#ifndef FAIRLEAD_XDS_LIMITS_H_
#define FAIRLEAD_XDS_LIMITS_H_

#include <cstddef>

namespace fairlead::xds {

// How much a client may ask for of one type on one stream. Far above what a mesh has: a stream that goes over
// it ends.
struct RequestLimits {
  size_t names = 100'000;
  size_t name_bytes = 16 << 20;  // of all names together
  size_t name_length = 4096;     // bytes of one name
};

// Bytes that are read of what a client says of a response.
inline constexpr size_t kLongestError = 16 << 10;

}  // namespace fairlead::xds

#endif  // FAIRLEAD_XDS_LIMITS_H_
