#ifndef FAIRLEAD_CACHE_RESOURCE_H_
#define FAIRLEAD_CACHE_RESOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/interned.h"
#include "cache/packed_bytes.h"
#include "cache/type_id.h"

namespace fairlead::cache {

// Resources of this size and more are not copied into the messages of the many clients that have them, but
// referred to: a piece of a message costs a client less than the copy.
inline constexpr size_t kLarge = 16 << 10;

// A resource that another one makes a proxy ask for by name, on the stream over which it got that one.
struct Reference {
  TypeId type;
  Interned name;

  friend bool operator==(const Reference&, const Reference&) = default;
  friend bool operator<(const Reference& a, const Reference& b) {
    return a.type != b.type ? a.type < b.type : a.name < b.name;
  }
};

// A config object that a resource was made from.
struct ResourceOrigin {
  Interned key;     // "VirtualService/default/reviews"
  Hash128 content;  // the hash of the version that was read (ConfigObject::content_hash)

  const std::string& str() const { return key.str(); }
  friend bool operator==(const ResourceOrigin&, const ResourceOrigin&) = default;
  friend bool operator==(const ResourceOrigin& origin, const Interned& key) { return origin.key == key; }
  friend bool operator<(const ResourceOrigin& a, const ResourceOrigin& b) {
    return a.key != b.key ? a.key < b.key : a.content < b.content;
  }
};

// Sorted, unique. Of what many have in common, the services behind routes and listeners and the workloads
// behind endpoints are left out.
using Origins = std::vector<ResourceOrigin>;

// One xDS resource, encoded once and shared by every stream that is sent it. Immutable.
struct Resource {
  Interned name;
  // Of `any` unpacked, the same in every process and replica: the resource's version.
  Hash128 hash = {};
  // A serialized google.protobuf.Any, type URL included. Empty: there is nothing by this name, and the client
  // waits to be told (on-demand virtual hosts).
  PackedBytes any;
  std::vector<Reference> references = {};  // sorted, unique
  Origins origins = {};
};
using ResourcePtr = std::shared_ptr<const Resource>;

}  // namespace fairlead::cache

#endif  // FAIRLEAD_CACHE_RESOURCE_H_
