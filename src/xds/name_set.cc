#include "xds/name_set.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <mutex>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"

namespace fairlead::xds {
namespace {

// What a set became. Keeps what it was changed by: clients name the same things one after the other.
struct Step {
  std::weak_ptr<const NameSet> after;
  NameSetPtr added, dropped;
};

// All sets that are alive, by hash. Dead entries are removed when their hash comes up again or a sweep is
// due.
struct Pool {
  std::mutex mutex;
  absl::flat_hash_map<size_t, std::vector<std::weak_ptr<const NameSet>>> sets;
  // What sets became, by the numbers of the three that Changed was called with.
  absl::flat_hash_map<std::array<uint64_t, 3>, Step> steps;
  size_t made = 0;

  static Pool& Get() {
    static auto* pool = new Pool;
    return *pool;
  }
  void Sweep() {
    for (auto& [hash, list] : sets) std::erase_if(list, [](const auto& set) { return set.expired(); });
    absl::erase_if(sets, [](const auto& entry) { return entry.second.empty(); });
    absl::erase_if(steps, [](const auto& entry) { return entry.second.after.expired(); });
  }
};

}  // namespace

NameSet::NameSet(std::vector<std::string> names) : names_(std::move(names)) {
  for (const std::string& name : names_) bytes_ += name.size();
}

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

NameSetPtr NameSet::Changed(const NameSetPtr& names, const NameSetPtr& added, const NameSetPtr& dropped) {
  if (dropped->empty() && (names->empty() || added->empty())) return names->empty() ? added : names;
  const std::array<uint64_t, 3> change = {names->id(), added->id(), dropped->id()};
  Pool& pool = Pool::Get();
  {
    std::lock_guard lock(pool.mutex);
    if (const auto known = pool.steps.find(change); known != pool.steps.end()) {
      if (NameSetPtr after = known->second.after.lock()) return after;
    }
  }
  std::vector<std::string_view> all;
  all.reserve(names->size() + added->size());
  std::merge(names->names().begin(), names->names().end(), added->names().begin(), added->names().end(),
             std::back_inserter(all));
  std::erase_if(all, [&](std::string_view name) { return dropped->Contains(name); });
  NameSetPtr after = Of(std::move(all));
  std::lock_guard lock(pool.mutex);
  pool.steps[change] = {after, added, dropped};
  return after;
}

NameSetPtr NameSet::Part(const NameSetPtr& names, PartOf part_of, size_t count, size_t part) {
  std::lock_guard lock(names->mutex_);
  if (names->divided_by_ != part_of || names->parts_.size() != count) names->Divide(part_of, count);
  const NameSetPtr& found = names->parts_[part];
  return found == nullptr ? names : found;
}

// REQUIRES: mutex_ is held.
void NameSet::Divide(PartOf part_of, size_t count) const {
  std::vector<std::vector<std::string_view>> parts(count);
  for (const std::string& name : names_) parts[part_of(name)].push_back(name);
  divided_by_ = part_of;
  parts_.clear();
  for (std::vector<std::string_view>& part : parts)
    parts_.push_back(part.size() == names_.size() ? nullptr : Of(std::move(part)));
}

const NameSetPtr& NameSet::Empty() {
  static const auto* empty = new NameSetPtr(new NameSet({}));
  return *empty;
}

bool NameSet::Contains(std::string_view name) const {
  return std::binary_search(names_.begin(), names_.end(), name, std::less<>());
}

}  // namespace fairlead::xds
