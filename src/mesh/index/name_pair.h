#ifndef FAIRLEAD_MESH_INDEX_NAME_PAIR_H_
#define FAIRLEAD_MESH_INDEX_NAME_PAIR_H_

#include <string_view>
#include <utility>

#include "base/interned.h"
#include "base/sharded_map.h"
#include "base/strings.h"

namespace fairlead::mesh {

// Maps by two names, such as (hostname, namespace), that are looked up by plain string views without
// interning them.
struct NamePairHash {
  using is_transparent = void;
  size_t operator()(const std::pair<std::string_view, std::string_view>& names) const {
    return absl::HashOf(ToAbsl(names.first), ToAbsl(names.second));
  }
  size_t operator()(const std::pair<Interned, Interned>& names) const {
    return (*this)(std::pair<std::string_view, std::string_view>(names.first, names.second));
  }
};

struct NamePairEqual {
  using is_transparent = void;
  using Views = std::pair<std::string_view, std::string_view>;
  bool operator()(const std::pair<Interned, Interned>& a, const std::pair<Interned, Interned>& b) const {
    return a == b;
  }
  bool operator()(const std::pair<Interned, Interned>& a, const Views& b) const {
    return a.first.str() == b.first && a.second.str() == b.second;
  }
  bool operator()(const Views& a, const std::pair<Interned, Interned>& b) const { return (*this)(b, a); }
};

template <typename Value>
using NamePairMap = ShardedMap<std::pair<Interned, Interned>, Value, NamePairHash, NamePairEqual>;

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_NAME_PAIR_H_
