#include "xds/resource_set.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "base/hash.h"

namespace fairlead::xds {
namespace {

const std::string* KeyOf(const ResourcePtr& resource) { return &resource->name.str(); }

// Weak references to all lists, so that equal ones are found again and idle bodies dropped.
struct ListPool {
  std::mutex mutex;
  absl::flat_hash_map<size_t, std::vector<std::weak_ptr<const ResourceList>>> lists;
  size_t made = 0;

  static ListPool& Get() {
    static auto* pool = new ListPool;
    return *pool;
  }
  void Sweep() {
    for (auto& [hash, list] : lists) std::erase_if(list, [](const auto& entry) { return entry.expired(); });
    absl::erase_if(lists, [](const auto& entry) { return entry.second.empty(); });
  }
};

// The latest set of each hash.
struct SetPool {
  std::mutex mutex;
  absl::flat_hash_map<Hash128, std::weak_ptr<const ResourceSet>> sets;
  size_t made = 0;

  static SetPool& Get() {
    static auto* pool = new SetPool;
    return *pool;
  }
};

// Two lists, sorted by name, merged: what is new or differs, and what is gone.
void Merge(std::span<const ResourcePtr> before, std::span<const ResourcePtr> after, Difference* out) {
  auto old = before.begin();
  for (const ResourcePtr& resource : after) {
    while (old != before.end() && std::less<>()(KeyOf(*old), KeyOf(resource))) out->removed.push_back(*old++);
    if (old != before.end() && KeyOf(*old) == KeyOf(resource)) {
      if ((*old)->hash != resource->hash) {
        out->changed.push_back(resource);
        out->replaced.push_back(*old);
      }
      ++old;
    } else {
      out->changed.push_back(resource);
    }
  }
  out->removed.insert(out->removed.end(), old, before.end());
}

// A resource that moved from one list to another is neither new nor gone.
void ReconcileMoves(Difference* difference) {
  if (difference->removed.empty() || difference->changed.empty()) return;
  absl::flat_hash_map<const std::string*, ResourcePtr> removed;
  for (const ResourcePtr& resource : difference->removed) removed[KeyOf(resource)] = resource;
  absl::flat_hash_set<const std::string*> moved;
  std::erase_if(difference->changed, [&](const ResourcePtr& resource) {
    auto it = removed.find(KeyOf(resource));
    if (it == removed.end()) return false;
    moved.insert(KeyOf(resource));
    if (it->second->hash == resource->hash) return true;
    difference->replaced.push_back(it->second);
    return false;
  });
  std::erase_if(difference->removed,
                [&](const ResourcePtr& resource) { return moved.contains(KeyOf(resource)); });
}

}  // namespace

ResourceList::ResourceList(std::vector<ResourcePtr> resources) : resources_(std::move(resources)) {
  std::vector<std::pair<const std::string*, const ResourcePtr*>> order;
  order.reserve(resources_.size());
  for (const ResourcePtr& resource : resources_) {
    hash_ += ShareOf(resource->name, resource->hash);
    order.emplace_back(KeyOf(resource), &resource);
  }
  std::sort(order.begin(), order.end());
  by_name_.reserve(order.size());
  for (const auto& [name, resource] : order) by_name_.push_back(*resource);
}

ResourceList::~ResourceList() = default;

ResourceListPtr ResourceList::Of(std::vector<ResourcePtr> resources) {
  if (resources.empty()) return Empty();
  const size_t hash = absl::HashOf(resources);
  ListPool& pool = ListPool::Get();
  const auto find = [&]() -> ResourceListPtr {  // REQUIRES: pool.mutex held
    auto it = pool.lists.find(hash);
    if (it == pool.lists.end()) return nullptr;
    for (const auto& weak : it->second) {
      ResourceListPtr list = weak.lock();
      if (list != nullptr && list->resources_ == resources) return list;
    }
    return nullptr;
  };
  {
    std::lock_guard lock(pool.mutex);
    if (ResourceListPtr list = find()) return list;
  }
  ResourceListPtr made(new ResourceList(resources));  // sorting and hashing happen outside the lock
  std::lock_guard lock(pool.mutex);
  if (ResourceListPtr list = find()) return list;
  if (++pool.made % 1024 == 0) pool.Sweep();
  auto& lists = pool.lists[hash];
  std::erase_if(lists, [](const auto& list) { return list.expired(); });
  lists.push_back(made);
  return made;
}

const ResourceListPtr& ResourceList::Empty() {
  static const auto* empty = new ResourceListPtr(new ResourceList({}));
  return *empty;
}

std::shared_ptr<const Pieces> ResourceList::Body(Framing framing) const {
  std::lock_guard lock(
      mutex_);  // whoever comes second waits for the first one's work instead of repeating it
  return body_.Get(framing, resources_);
}

DifferencePtr ResourceList::Since(const ResourceListPtr& before) const {
  constexpr size_t kRemembered = 4;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [list, difference] : since_) {
      if (list.lock() == before) return difference;
    }
  }
  auto made = std::make_shared<Difference>();
  if (before->size() == 0) {
    made->changed = resources_;
    return made;  // no work was saved by remembering it, and the client is a new one
  }
  Merge(before->by_name(), by_name(), made.get());
  std::lock_guard lock(mutex_);
  if (since_.size() >= kRemembered) since_.erase(since_.begin());
  since_.emplace_back(before, made);
  return made;
}

size_t ResourceList::DropIdleBodies() {
  std::vector<ResourceListPtr> alive;
  ListPool& pool = ListPool::Get();
  {
    std::lock_guard lock(pool.mutex);
    pool.Sweep();
    for (const auto& [hash, lists] : pool.lists) {
      for (const auto& weak : lists) {
        if (ResourceListPtr list = weak.lock()) alive.push_back(std::move(list));
      }
    }
  }
  size_t freed = 0;
  for (const ResourceListPtr& list : alive) {
    std::lock_guard lock(list->mutex_);
    freed += list->body_.DropIdle().value_or(0);
    list->since_.clear();
  }
  return freed;
}

const std::vector<Reference>& ResourceList::References() const {
  std::lock_guard lock(mutex_);
  if (!references_) {
    std::vector<Reference> all;
    for (const ResourcePtr& resource : resources_)
      all.insert(all.end(), resource->references.begin(), resource->references.end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    all.shrink_to_fit();
    references_ = std::move(all);
  }
  return *references_;
}

ResourceSet::ResourceSet(std::vector<ResourceListPtr> parts) : parts_(std::move(parts)) {
  for (const ResourceListPtr& part : parts_) {
    size_ += part->size();
    hash_ += part->hash();
  }
}

ResourceSetPtr ResourceSet::Of(std::vector<ResourceListPtr> parts) {
  ResourceSetPtr made(new ResourceSet(std::move(parts)));
  SetPool& pool = SetPool::Get();
  std::lock_guard lock(pool.mutex);
  if (++pool.made % 4096 == 0) {
    absl::erase_if(pool.sets, [](const auto& entry) { return entry.second.expired(); });
  }
  std::weak_ptr<const ResourceSet>& latest = pool.sets[made->hash()];
  if (ResourceSetPtr known = latest.lock(); known != nullptr && known->parts_ == made->parts_) return known;
  latest = made;
  return made;
}

ResourceSetPtr ResourceSet::Of(std::vector<ResourcePtr> resources) {
  return Of(std::vector<ResourceListPtr>{ResourceList::Of(std::move(resources))});
}

ResourceSetPtr ResourceSet::WithHash(const Hash128& hash) {
  SetPool& pool = SetPool::Get();
  std::lock_guard lock(pool.mutex);
  const auto found = pool.sets.find(hash);
  return found == pool.sets.end() ? nullptr : found->second.lock();
}

const NameSetPtr& ResourceSet::Names() const {
  std::lock_guard lock(mutex_);
  if (names_ == nullptr) {
    std::vector<std::string_view> names;
    names.reserve(size_);
    for (const ResourceListPtr& part : parts_) {
      for (const ResourcePtr& resource : part->resources()) names.push_back(resource->name.str());
    }
    names_ = NameSet::Of(std::move(names));
  }
  return names_;
}

const ResourceSetPtr& ResourceSet::Empty() {
  static const auto* empty = new ResourceSetPtr(new ResourceSet({}));
  return *empty;
}

ResourcePtr ResourceSet::Find(std::string_view name) const {
  const Interned interned(name);
  const std::string* key = &interned.str();
  for (const ResourceListPtr& part : parts_) {
    const auto& sorted = part->by_name();
    auto it = std::lower_bound(
        sorted.begin(), sorted.end(), key,
        [](const ResourcePtr& resource, const std::string* k) { return std::less<>()(KeyOf(resource), k); });
    if (it != sorted.end() && KeyOf(*it) == key) return *it;
  }
  return nullptr;
}

bool ResourceSet::RefersTo(const Reference& reference) const {
  return std::any_of(parts_.begin(), parts_.end(), [&](const ResourceListPtr& part) {
    const std::vector<Reference>& references = part->References();
    return std::binary_search(references.begin(), references.end(), reference);
  });
}

ResourceSetPtr Without(const ResourceSet& set, const StringSet& names) {
  std::vector<ResourceListPtr> parts;
  for (const ResourceListPtr& part : set.parts()) {
    std::vector<ResourcePtr> kept;
    for (const ResourcePtr& resource : part->resources()) {
      if (!names.contains(resource->name.str())) kept.push_back(resource);
    }
    parts.push_back(kept.size() == part->size() ? part : ResourceList::Of(std::move(kept)));
  }
  return ResourceSet::Of(std::move(parts));
}

Hash128 ShareOf(std::string_view name, const Hash128& hash) { return StableHash(StableHash(name), hash); }

DifferencePtr Compare(const ResourceSet& before, const ResourceSet& after) {
  static const auto* const kNone = new DifferencePtr(std::make_shared<Difference>());
  std::vector<DifferencePtr> parts;
  const size_t count = std::max(before.parts().size(), after.parts().size());
  for (size_t i = 0; i < count; ++i) {
    const ResourceListPtr& old = i < before.parts().size() ? before.parts()[i] : ResourceList::Empty();
    const ResourceListPtr& now = i < after.parts().size() ? after.parts()[i] : ResourceList::Empty();
    if (old != now) parts.push_back(now->Since(old));
  }
  if (parts.empty()) return *kNone;
  if (parts.size() == 1) return parts.front();
  auto all = std::make_shared<Difference>();
  for (const DifferencePtr& part : parts) {
    all->changed.insert(all->changed.end(), part->changed.begin(), part->changed.end());
    all->replaced.insert(all->replaced.end(), part->replaced.begin(), part->replaced.end());
    all->removed.insert(all->removed.end(), part->removed.begin(), part->removed.end());
  }
  ReconcileMoves(all.get());
  return all;
}

}  // namespace fairlead::xds
