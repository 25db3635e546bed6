#include "xds/name_set.h"

#include <algorithm>
#include <mutex>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"

namespace fairlead::xds {
namespace {

// All sets that are alive, by hash. Dead entries are removed when their hash comes up again or a sweep is
// due.
struct Pool {
  std::mutex mutex;
  absl::flat_hash_map<size_t, std::vector<std::weak_ptr<const NameSet>>> sets;
  size_t made = 0;

  static Pool& Get() {
    static auto* pool = new Pool;
    return *pool;
  }
  void Sweep() {
    for (auto& [hash, list] : sets) std::erase_if(list, [](const auto& set) { return set.expired(); });
    absl::erase_if(sets, [](const auto& entry) { return entry.second.empty(); });
  }
};

}  // namespace

NameSetPtr NameSet::Of(std::vector<std::string_view> names) {
  if (names.empty()) return Empty();
  if (!std::is_sorted(names.begin(), names.end())) std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const size_t hash = absl::HashOf(names);
  Pool& pool = Pool::Get();
  std::lock_guard lock(pool.mutex);
  if (++pool.made % 4096 == 0) pool.Sweep();
  auto& list = pool.sets[hash];
  std::erase_if(list, [](const auto& set) { return set.expired(); });
  for (const auto& weak : list) {
    NameSetPtr set = weak.lock();
    if (set != nullptr && std::equal(names.begin(), names.end(), set->names_.begin(), set->names_.end()))
      return set;
  }
  NameSetPtr set(new NameSet({names.begin(), names.end()}));
  list.push_back(set);
  return set;
}

const NameSetPtr& NameSet::Empty() {
  static const auto* empty = new NameSetPtr(new NameSet({}));
  return *empty;
}

bool NameSet::Contains(std::string_view name) const {
  return std::binary_search(names_.begin(), names_.end(), name, std::less<>());
}

}  // namespace fairlead::xds
