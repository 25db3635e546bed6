#ifndef FAIRLEAD_BASE_SHARDED_MAP_H_
#define FAIRLEAD_BASE_SHARDED_MAP_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "base/copy_on_write.h"

namespace fairlead {

// A map whose copies share what they have in common: a copy costs one pointer a shard, a change of a copy
// copies the shards that it touches, each once. For indexes of immutable snapshots. Hash and Equal may be
// transparent. Reading from several threads is safe; so is changing a copy while others read other copies.
template <typename Key, typename Value, typename Hash = absl::Hash<Key>, typename Equal = std::equal_to<Key>,
          size_t kShards = 256>
class ShardedMap {
 public:
  using Shard = absl::flat_hash_map<Key, Value, Hash, Equal>;

  // Null where there is none. Good until the map is changed or gone.
  template <typename K>
  const Value* Find(const K& key) const {
    const Shard* shard = shards_[NumberOf(key)].get();
    if (shard == nullptr) return nullptr;
    auto it = shard->find(key);
    return it == shard->end() ? nullptr : &it->second;
  }
  template <typename K>
  bool contains(const K& key) const {
    return Find(key) != nullptr;
  }
  bool empty() const {
    return std::all_of(shards_.begin(), shards_.end(), [](const auto& s) { return s.get() == nullptr; });
  }
  size_t size() const {
    size_t total = 0;
    for (const auto& shard : shards_) total += shard.get() == nullptr ? 0 : shard.get()->size();
    return total;
  }

  // The value of the key, made if it is new. Good until the map is changed, copied or gone.
  Value& operator[](const Key& key) { return shards_[NumberOf(key)].Edit()[key]; }
  template <typename K>
  void Erase(const K& key) {
    if (Find(key) == nullptr) return;
    CopyOnWrite<Shard>& shard = shards_[NumberOf(key)];
    if (shard.get()->size() == 1) {
      shard.Reset();
    } else {
      shard.Edit().erase(key);
    }
  }

  // Calls visit(key, value) for all, in no particular order.
  template <typename Visit>
  void ForEach(Visit&& visit) const {
    for (const auto& shard : shards_) {
      if (shard.get() == nullptr) continue;
      for (const auto& [key, value] : *shard.get()) visit(key, value);
    }
  }
  // Calls visit(key, was, is) for each key whose value differs (operator==) from that in `before`; null
  // stands for none. Shards that the two share are not looked into.
  template <typename Visit>
  void ForEachDifference(const ShardedMap& before, Visit&& visit) const {
    static const Shard none;
    for (size_t i = 0; i < kShards; ++i) {
      if (shards_[i] == before.shards_[i]) continue;
      const Shard& was = before.shards_[i].get() == nullptr ? none : *before.shards_[i].get();
      const Shard& is = shards_[i].get() == nullptr ? none : *shards_[i].get();
      for (const auto& [key, value] : is) {
        const auto old = was.find(key);
        const Value* old_value = old == was.end() ? nullptr : &old->second;
        if (old_value == nullptr || !(*old_value == value)) visit(key, old_value, &value);
      }
      for (const auto& [key, value] : was) {
        if (!is.contains(key)) visit(key, &value, static_cast<const Value*>(nullptr));
      }
    }
  }

 private:
  // By high bits of the hash: the shard's own table goes by the low ones.
  template <typename K>
  static size_t NumberOf(const K& key) {
    return (Hash()(key) >> 40) % kShards;
  }

  std::array<CopyOnWrite<Shard>, kShards> shards_;  // INVARIANT: a shard that is not empty has entries
};

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_SHARDED_MAP_H_
