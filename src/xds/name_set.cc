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

// The part of a set that had its names first.
struct KnownPart {
  std::weak_ptr<const NameSet> set;
  NameSet::DivisionPtr division;
  size_t part;
  uint64_t id;
};

// All sets that are alive, by hash, and their parts. Dead entries are removed when their hash comes up again
// or a sweep is due.
struct Pool {
  std::mutex mutex;
  absl::flat_hash_map<size_t, std::vector<std::weak_ptr<const NameSet>>> sets;
  absl::flat_hash_map<size_t, std::vector<KnownPart>> parts;
  // What sets became, by the numbers of the three that Changed was called with.
  absl::flat_hash_map<std::array<uint64_t, 3>, Step> steps;
  size_t made = 0;

  static Pool& Get() {
    static auto* pool = new Pool;
    return *pool;
  }
  uint64_t IdOfPart(const NameSetPtr& set, const NameSet::DivisionPtr& division, size_t part) {
    const std::vector<std::string_view> names = set->NamesOf(*division, part);
    const size_t hash = absl::HashOf(names);
    std::lock_guard lock(mutex);
    std::vector<KnownPart>& known = parts[hash];
    std::erase_if(known, [](const KnownPart& one) { return one.set.expired(); });
    for (const KnownPart& one : known) {
      const NameSetPtr alive = one.set.lock();
      if (alive != nullptr && alive->NamesOf(*one.division, one.part) == names) return one.id;
    }
    known.push_back({set, division, part, NextUniqueId()});
    return known.back().id;
  }
  void Sweep() {
    for (auto& [hash, list] : sets) std::erase_if(list, [](const auto& set) { return set.expired(); });
    absl::erase_if(sets, [](const auto& entry) { return entry.second.empty(); });
    for (auto& [hash, list] : parts)
      std::erase_if(list, [](const KnownPart& part) { return part.set.expired(); });
    absl::erase_if(parts, [](const auto& entry) { return entry.second.empty(); });
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

NameSet::DivisionPtr NameSet::Divide(const NameSetPtr& names, PartOf part_of, size_t count) {
  std::lock_guard lock(names->mutex_);
  if (names->division_ != nullptr && names->division_->by == part_of) return names->division_;
  auto division = std::make_shared<Division>();
  division->by = part_of;
  division->parts.reserve(names->size());
  for (const std::string& name : names->names_)
    division->parts.push_back(static_cast<uint8_t>(part_of(name)));
  for (size_t part = 0; part < count; ++part)
    division->ids.push_back(Pool::Get().IdOfPart(names, division, part));
  return names->division_ = std::move(division);
}

std::vector<std::string_view> NameSet::NamesOf(const Division& division, size_t part) const {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < names_.size(); ++i) {
    if (division.parts[i] == part) names.emplace_back(names_[i]);
  }
  return names;
}

const NameSetPtr& NameSet::Empty() {
  static const auto* empty = new NameSetPtr(new NameSet({}));
  return *empty;
}

bool NameSet::Contains(std::string_view name) const {
  return std::binary_search(names_.begin(), names_.end(), name, std::less<>());
}

}  // namespace fairlead::xds
