#ifndef FAIRLEAD_MESH_INDEX_DIFFERENCE_H_
#define FAIRLEAD_MESH_INDEX_DIFFERENCE_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "base/strings.h"
#include "mesh/index/question.h"
#include "mesh/index/snapshot.h"

// What the rows of questions compare snapshots by. Costs what differs: what two snapshots share is not looked
// into.
namespace fairlead::mesh {

template <typename Index>
using IndexOf = std::shared_ptr<const Index> MeshSnapshot::*;

// Calls compare(before, after) with an index of two snapshots where it is another: an empty one for null
// before.
template <typename Index, typename Compare>
void CompareIndexes(const MeshSnapshot& before, const MeshSnapshot& after, IndexOf<Index> index,
                    Compare&& compare) {
  if (before.*index == after.*index || after.*index == nullptr) return;
  static const auto* none = new Index();
  compare(before.*index == nullptr ? *none : *(before.*index), *(after.*index));
}

inline Key AsKey(const std::string& name) { return Interned(name); }
template <typename Name>
Key AsKey(const Name& name) {
  return name;
}
// Visits the keys of the values that differ between two maps.
template <typename Map>
void CompareMaps(const Map& before, const Map& after, Visit visit) {
  after.ForEachDifference(before, [&](const auto& key, const auto*, const auto*) { visit(AsKey(key)); });
}
// The same of maps that share nothing but their values.
template <typename Value>
void CompareMaps(const StringMap<Value>& before, const StringMap<Value>& after, Visit visit) {
  for (const auto& [name, value] : after) {
    const auto old = before.find(name);
    if (old == before.end() || old->second != value) visit(AsKey(name));
  }
  for (const auto& [name, value] : before) {
    if (!after.contains(name)) visit(AsKey(name));
  }
}

// A row's Difference: an index as a whole.
template <auto kIndex>
void Whole(const MeshSnapshot& before, const MeshSnapshot& after, Visit visit) {
  if (before.*kIndex != after.*kIndex) visit({});
}
// The values of a map that an index has.
template <auto kIndex, auto kMap>
void ValuesOf(const MeshSnapshot& before, const MeshSnapshot& after, Visit visit) {
  CompareIndexes(before, after, kIndex,
                 [&](const auto& was, const auto& is) { CompareMaps((was.*kMap)(), (is.*kMap)(), visit); });
}

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_DIFFERENCE_H_
