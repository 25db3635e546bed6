#ifndef FAIRLEAD_XDS_REFERENCES_H_
#define FAIRLEAD_XDS_REFERENCES_H_

#include <compare>
#include <string_view>
#include <vector>

#include "xds/types.h"

namespace fairlead::xds {

// That a resource makes a proxy ask for another one by name.
struct Reference {
  TypeId type;
  std::string_view name;  // points into the resource's bytes
  friend auto operator<=>(const Reference&, const Reference&) = default;
};

// The endpoints that a cluster names, and the route configurations and extension configurations that a
// listener names. `any` is a serialized google.protobuf.Any of the type; it is read in place, without
// building the message. Anything else, and what cannot be read, refers to nothing.
std::vector<Reference> ReferencesOf(TypeId type, std::string_view any);

}  // namespace fairlead::xds

#endif  // FAIRLEAD_XDS_REFERENCES_H_
