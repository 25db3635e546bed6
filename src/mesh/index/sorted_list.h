#ifndef FAIRLEAD_MESH_INDEX_SORTED_LIST_H_
#define FAIRLEAD_MESH_INDEX_SORTED_LIST_H_

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace fairlead::mesh {

// What becomes of a sorted list: entries that leave it and entries that join it, in any order.
template <typename Ptr>
struct ListChange {
  std::vector<Ptr> gone, fresh;
  bool empty() const { return gone.empty() && fresh.empty(); }
};

// The places in a sorted list of the entries that leave it, in order. One may be there several times.
template <typename Ptr, typename Order>
std::vector<size_t> PlacesOf(const std::vector<Ptr>& entries, const std::vector<Ptr>& list, Order order) {
  std::vector<size_t> places;
  for (const Ptr& entry : entries) {
    const auto [first, last] = std::equal_range(list.begin(), list.end(), entry, order);
    for (auto at = first; at != last; ++at) {
      if (*at == entry) places.push_back(static_cast<size_t>(at - list.begin()));
    }
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

// The list after a change. `before` (may be null: empty) must be sorted by `order`. Null where nothing is
// left. Costs a copy of the pointers; a look at entries only for those that leave or join.
template <typename Ptr, typename Order>
std::shared_ptr<const std::vector<Ptr>> Changed(const std::vector<Ptr>* before, const ListChange<Ptr>& change,
                                                Order order) {
  // With more new entries than this share, sorting all is quicker than finding the place of each.
  constexpr size_t kFew = 16;
  auto after = std::make_shared<std::vector<Ptr>>();
  const size_t old = before == nullptr ? 0 : before->size();
  after->reserve(old + change.fresh.size());
  if (before != nullptr) {
    auto next = before->begin();
    for (size_t place : PlacesOf(change.gone, *before, order)) {
      const auto gone = before->begin() + static_cast<ptrdiff_t>(place);
      after->insert(after->end(), next, gone);
      next = gone + 1;
    }
    after->insert(after->end(), next, before->end());
  }
  if (change.fresh.size() * kFew < old) {
    for (const Ptr& entry : change.fresh)
      after->insert(std::upper_bound(after->begin(), after->end(), entry, order), entry);
  } else {
    after->insert(after->end(), change.fresh.begin(), change.fresh.end());
    std::sort(after->begin(), after->end(), order);
  }
  return after->empty() ? nullptr : after;
}

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_SORTED_LIST_H_
