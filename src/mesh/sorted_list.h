#ifndef FAIRLEAD_MESH_SORTED_LIST_H_
#define FAIRLEAD_MESH_SORTED_LIST_H_

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"

namespace fairlead::mesh {

// What becomes of a sorted list: entries that leave it and entries that join it, in any order.
template <typename Ptr>
struct ListChange {
  std::vector<Ptr> gone, fresh;
  bool empty() const { return gone.empty() && fresh.empty(); }
};

// The list after a change. `before` (may be null: empty) must be sorted by `order`. Null where nothing is
// left. Costs a copy of the pointers; a look at entries only for those that join.
template <typename Ptr, typename Order>
std::shared_ptr<const std::vector<Ptr>> Changed(const std::vector<Ptr>* before, const ListChange<Ptr>& change,
                                                Order order) {
  // With more new entries than this share, sorting all is quicker than finding the place of each.
  constexpr size_t kFew = 16;
  auto after = std::make_shared<std::vector<Ptr>>();
  const size_t old = before == nullptr ? 0 : before->size();
  after->reserve(old + change.fresh.size());
  if (change.gone.empty()) {
    if (before != nullptr) *after = *before;
  } else {
    absl::flat_hash_set<const void*> gone;
    for (const Ptr& entry : change.gone) gone.insert(entry.get());
    std::copy_if(before->begin(), before->end(), std::back_inserter(*after),
                 [&gone](const Ptr& entry) { return !gone.contains(entry.get()); });
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

#endif  // FAIRLEAD_MESH_SORTED_LIST_H_
