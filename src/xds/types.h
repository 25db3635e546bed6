#ifndef FAIRLEAD_XDS_TYPES_H_
#define FAIRLEAD_XDS_TYPES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cache/type_id.h"

// The table of resource types. Its order is the order of sending within one push (make before break).
namespace fairlead::xds {

using cache::kTypeCount;
using cache::TypeId;

inline constexpr uint32_t MaskOf(TypeId type) { return 1u << static_cast<unsigned>(type); }

struct TypeInfo {
  TypeId id;
  std::string_view url;
  std::string_view name;    // in logs: "CDS"
  std::string_view metric;  // as Istio's metrics label it: "cds"
  // State of the world: a response holds every resource, and what it lacks is gone. Implies that an empty
  // list of names asks for everything. Source: xDS protocol, "How the client specifies what resources to
  // return".
  bool root;
  // A removal waits until everything else of the push was sent: routes leave a cluster before the cluster
  // goes.
  bool removed_last;
  // Delta: a resource that is gone is never reported as removed. Envoy drops what it no longer refers to by
  // itself, and takes an early removal for an error (envoyproxy/envoy#32823).
  bool never_removed;
  // Known in the incremental variant only.
  bool delta_only;
  // The types, as a mask, that a resource of this type makes a proxy ask for (see cache::Reference). The
  // references of a changed resource are sent again with it. A proxy warms the resource until they come, even
  // if it has them (envoyproxy/envoy#13009, #33607).
  uint32_t children;
};

// By TypeId.
extern const std::array<TypeInfo, kTypeCount> kTypes;

inline const TypeInfo& InfoOf(TypeId type) { return kTypes[static_cast<size_t>(type)]; }

// Null for a type that is not in the table.
const TypeInfo* FindType(std::string_view url);

}  // namespace fairlead::xds

#endif  // FAIRLEAD_XDS_TYPES_H_
