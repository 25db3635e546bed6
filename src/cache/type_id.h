#ifndef FAIRLEAD_CACHE_TYPE_ID_H_
#define FAIRLEAD_CACHE_TYPE_ID_H_

#include <cstddef>
#include <cstdint>

namespace fairlead::cache {

// The types of resources that are served over xDS. What is known of each, and why they come in this order, is
// in xds/types.h.
enum class TypeId : uint8_t {
  kCluster,
  kEndpoint,
  kListener,
  kRoute,
  kSecret,
  kExtension,
  kNameTable,
  kVirtualHost,
  kProxyConfig,
};
inline constexpr size_t kTypeCount = 9;

}  // namespace fairlead::cache

#endif  // FAIRLEAD_CACHE_TYPE_ID_H_
