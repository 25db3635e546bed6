#ifndef FAIRLEAD_CACHE_RESOURCE_H_
#define FAIRLEAD_CACHE_RESOURCE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "base/interned.h"

namespace fairlead::cache {

// One xDS resource, encoded once and shared by every stream that is sent it. Immutable.
struct Resource {
  Interned name;
  uint64_t hash = 0;  // of `any`, the same in every process and replica (XXH3): the resource's version
  // A serialized google.protobuf.Any, type URL included. Empty: there is nothing by this name, and the client
  // waits to be told (on-demand virtual hosts).
  std::string any;
};
using ResourcePtr = std::shared_ptr<const Resource>;

}  // namespace fairlead::cache

#endif  // FAIRLEAD_CACHE_RESOURCE_H_
