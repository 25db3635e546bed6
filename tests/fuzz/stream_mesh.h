#ifndef FAIRLEAD_TESTS_FUZZ_STREAM_MESH_H_
#define FAIRLEAD_TESTS_FUZZ_STREAM_MESH_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "xds/name_set.h"
#include "xds/resource_set.h"
#include "xds/types.h"

// The resources that a stream's server has, for fuzzing the protocol core.
namespace fairlead::fuzz {

using Names = std::vector<std::string>;
using References = std::vector<std::pair<xds::TypeId, std::string>>;

struct Item {
  xds::ResourcePtr resource;
  References refers;
  unsigned part = 0;  // of which list of the set
};
using Items = std::map<std::string, Item>;

// The names of resources. The last one holds what separates two names on the wire.
inline const std::array<std::string, 4> kNames = {"a", "b", "c",
                                                  "a\x1a\x01"
                                                  "b"};
inline constexpr unsigned kParts = 3;

class StreamMesh {
 public:
  // `content` makes the difference between two of one name, and sets the size. A cluster refers to endpoints,
  // a listener to routes and extensions; others ignore `refers`.
  void Put(xds::TypeId type, const std::string& name, unsigned content, const Names& refers, unsigned part);
  void Remove(xds::TypeId type, const std::string& name) { Of(type).erase(name); }
  Items& Of(xds::TypeId type) { return items_[static_cast<size_t>(type)]; }
  const Items& Of(xds::TypeId type) const { return items_[static_cast<size_t>(type)]; }
  // What a generator gives; null names: everything.
  xds::ResourceSetPtr Make(xds::TypeId type, const xds::NameSet* names) const;

 private:
  std::array<Items, xds::kTypeCount> items_;
};

// The name within an encoded resource.
std::string NameInside(std::string_view any);

}  // namespace fairlead::fuzz

#endif  // FAIRLEAD_TESTS_FUZZ_STREAM_MESH_H_
