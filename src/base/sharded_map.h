#ifndef FAIRLEAD_BASE_SHARDED_MAP_H_
#define FAIRLEAD_BASE_SHARDED_MAP_H_

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace fairlead {

// A map whose copies share what they have in common: a copy costs one pointer a shard, a change of a copy
// copies the shards that it touches. For indexes of immutable snapshots. Hash and Equal may be transparent.
// Reading from several threads is safe; so is changing a copy while others read other copies.
template <typename Key, typename Value, typename Hash, typename Equal, size_t kShards = 256>
class ShardedMap {
 public:
  using Shard = absl::flat_hash_map<Key, Value, Hash, Equal>;

  // Null where there is none. Good until the map is changed or gone.
  template <typename K>
  const Value* Find(const K& key) const {
    const auto& shard = shards_[NumberOf(key)];
    if (shard == nullptr) return nullptr;
    auto it = shard->find(key);
    return it == shard->end() ? nullptr : &it->second;
  }

  // Collects changes to a map: each shard that they touch is copied once, however many they are.
  class Editor {
   public:
    explicit Editor(ShardedMap* map) : map_(map) {}

    // The value of the key, made if it is new.
    Value& operator[](const Key& key) { return Own(key)[key]; }
    template <typename K>
    void Erase(const K& key) {
      if (map_->Find(key) != nullptr) Own(key).erase(key);
    }

   private:
    template <typename K>
    Shard& Own(const K& key) {
      const size_t number = NumberOf(key);
      if (owned_[number] == nullptr) {
        const auto& shared = map_->shards_[number];
        auto copy = shared == nullptr ? std::make_shared<Shard>() : std::make_shared<Shard>(*shared);
        owned_[number] = copy.get();
        map_->shards_[number] = std::move(copy);
      }
      return *owned_[number];
    }

    ShardedMap* map_;
    std::array<Shard*, kShards> owned_{};
  };

 private:
  // By high bits of the hash: the shard's own table goes by the low ones.
  template <typename K>
  static size_t NumberOf(const K& key) {
    return (Hash()(key) >> 40) % kShards;
  }

  std::array<std::shared_ptr<const Shard>, kShards> shards_;  // null: empty
};

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_SHARDED_MAP_H_
