#ifndef FAIRLEAD_XDS_HELD_H_
#define FAIRLEAD_XDS_HELD_H_

#include <cstddef>
#include <vector>

#include "xds/name_set.h"

namespace fairlead::xds {

// Names that a stream's client asks for; streams that ask for the same share the set.
struct HeldNames {
  NameSetPtr set;
  bool answered = false;  // of a type that answers each name that is asked for, known or not
};

// The memory that a stream keeps because of its client's requests.
struct Held {
  size_t own = 0;  // bytes that no other stream shares, roughly
  std::vector<HeldNames> names;
};

}  // namespace fairlead::xds

#endif  // FAIRLEAD_XDS_HELD_H_
