#ifndef FAIRLEAD_MESH_INDEX_DIFFERENCE_H_
#define FAIRLEAD_MESH_INDEX_DIFFERENCE_H_

#include <functional>
#include <memory>
#include <type_traits>

#include "base/interned.h"
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

// A name is a text, a key, or a struct of two Interned.
template <typename Name>
Key AsKey(const Name& name) {
  if constexpr (std::is_convertible_v<const Name&, Key>) {
    return name;
  } else if constexpr (std::is_convertible_v<const Name&, Interned>) {
    return Interned(name);
  } else {
    const auto& [a, b] = name;
    return {a, b};
  }
}
// Visits the keys of the values that differ between two maps.
template <typename Map>
void CompareMaps(const Map& before, const Map& after, Visit visit) {
  if constexpr (requires {
                  typename Map::mapped_type;
                }) {  // a standard one: it shares nothing but its values
    for (const auto& [name, value] : after) {
      const auto old = before.find(name);
      if (old == before.end() || old->second != value) visit(AsKey(name));
    }
    for (const auto& [name, _] : before) {
      if (!after.contains(name)) visit(AsKey(name));
    }
  } else {
    after.ForEachDifference(before, [&](const auto& key, const auto*, const auto*) { visit(AsKey(key)); });
  }
}

// A row's Difference: an answer that costs little to look up, without a key.
template <typename Row>
void OfAnswer(const MeshSnapshot& before, const MeshSnapshot& after, Visit visit) {
  if (Row::Answer(before) != Row::Answer(after)) visit({});
}
// An index as a whole.
template <auto kIndex>
void Whole(const MeshSnapshot& before, const MeshSnapshot& after, Visit visit) {
  if (before.*kIndex != after.*kIndex) visit({});
}
// The values of a map that an index has, or is.
template <auto kIndex, auto kMap = std::identity()>
void ValuesOf(const MeshSnapshot& before, const MeshSnapshot& after, Visit visit) {
  CompareIndexes(before, after, kIndex, [&](const auto& was, const auto& is) {
    CompareMaps(std::invoke(kMap, was), std::invoke(kMap, is), visit);
  });
}

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_DIFFERENCE_H_
