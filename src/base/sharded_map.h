#ifndef FAIRLEAD_BASE_SHARDED_MAP_H_
#define FAIRLEAD_BASE_SHARDED_MAP_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <iterator>
#include <utility>
#include <variant>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "base/copy_on_write.h"

namespace fairlead {

// A map whose copies share what they have in common: a copy costs one pointer, a change of a copy copies the
// shards that it touches, each once. Hash and Equal may be transparent. Reading from several threads is safe;
// so is changing a copy while others read other copies.
template <typename Key, typename Value, typename Hash = absl::Hash<Key>, typename Equal = std::equal_to<Key>,
          size_t kShards = 256>
class ShardedMap {
 public:
  using Shard = absl::flat_hash_map<Key, Value, Hash, Equal>;

  // Null where there is none. Good until the map is changed or gone.
  template <typename K>
  const Value* Find(const K& key) const {
    const Shard* shard = ShardAt(NumberOf(key));
    if (shard == nullptr) return nullptr;
    auto it = shard->find(key);
    return it == shard->end() ? nullptr : &it->second;
  }
  template <typename K>
  bool contains(const K& key) const {
    return Find(key) != nullptr;
  }
  bool empty() const { return size() == 0; }
  size_t size() const {
    size_t total = 0;
    for (size_t i = 0; i < kShards; ++i) total += SizeAt(i);
    return total;
  }

  // The value of the key, made if it is new. Good until the map is changed, copied or gone.
  Value& operator[](const Key& key) { return shards_.Edit()[NumberOf(key)].Edit()[key]; }
  template <typename K>
  void Erase(const K& key) {
    if (Find(key) == nullptr) return;
    const size_t number = NumberOf(key);
    if (SizeAt(number) == 1) {
      shards_.Edit()[number].Reset();
    } else {
      shards_.Edit()[number].Edit().erase(key);
    }
  }

  // All entries, as pairs of key and value, in no particular order.
  class const_iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = typename Shard::value_type;
    using difference_type = std::ptrdiff_t;
    using pointer = const value_type*;
    using reference = const value_type&;

    const_iterator() = default;
    reference operator*() const { return *at_; }
    pointer operator->() const { return &*at_; }
    const_iterator& operator++() {
      if (++at_ == map_->ShardAt(number_)->end()) Enter(number_ + 1);
      return *this;
    }
    const_iterator operator++(int) {
      const_iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const const_iterator& a, const const_iterator& b) {
      return a.number_ == b.number_ && (a.number_ == kShards || a.at_ == b.at_);
    }

   private:
    friend class ShardedMap;
    const_iterator(const ShardedMap* map, size_t number) : map_(map) { Enter(number); }
    // Goes to the first entry at or after a shard.
    void Enter(size_t number) {
      while (number < kShards && map_->SizeAt(number) == 0) ++number;
      number_ = number;
      if (number < kShards) at_ = map_->ShardAt(number)->begin();
    }
    const ShardedMap* map_ = nullptr;
    size_t number_ = kShards;
    typename Shard::const_iterator at_;
  };
  const_iterator begin() const { return const_iterator(this, 0); }
  const_iterator end() const { return const_iterator(this, kShards); }

  // Whether both have the same entries.
  friend bool operator==(const ShardedMap& a, const ShardedMap& b) {
    bool same = true;
    a.ForEachDifference(b, [&same](const Key&, const Value*, const Value*) { same = false; });
    return same;
  }
  // Calls visit(key, was, is) for each key whose value differs (operator==) from that in `before`; null
  // stands for none. Shards that the two share are not looked into.
  template <typename Visit>
  void ForEachDifference(const ShardedMap& before, Visit&& visit) const {
    static const Shard none;
    if (shards_ == before.shards_) return;
    for (size_t i = 0; i < kShards; ++i) {
      const Shard* before_shard = before.ShardAt(i);
      const Shard* shard = ShardAt(i);
      if (shard == before_shard) continue;
      const Shard& was = before_shard == nullptr ? none : *before_shard;
      const Shard& is = shard == nullptr ? none : *shard;
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
  const Shard* ShardAt(size_t number) const {
    const auto* shards = shards_.get();
    return shards == nullptr ? nullptr : (*shards)[number].get();
  }
  size_t SizeAt(size_t number) const {
    const Shard* shard = ShardAt(number);
    return shard == nullptr ? 0 : shard->size();
  }

  CopyOnWrite<std::array<CopyOnWrite<Shard>, kShards>> shards_;
};

// A set of the same kind.
template <typename Key, size_t kShards = 256>
class ShardedSet {
  using Map = ShardedMap<Key, std::monostate, absl::Hash<Key>, std::equal_to<Key>, kShards>;

 public:
  bool contains(const Key& key) const { return map_.contains(key); }
  bool empty() const { return map_.empty(); }
  size_t size() const { return map_.size(); }
  void Insert(const Key& key) {
    if (!map_.contains(key)) map_[key];
  }
  void Erase(const Key& key) { map_.Erase(key); }

  class const_iterator : public Map::const_iterator {
   public:
    using value_type = Key;
    using pointer = const Key*;
    using reference = const Key&;
    const_iterator() = default;
    explicit const_iterator(typename Map::const_iterator at) : Map::const_iterator(at) {}
    reference operator*() const { return Map::const_iterator::operator*().first; }
    pointer operator->() const { return &**this; }
    const_iterator& operator++() {
      Map::const_iterator::operator++();
      return *this;
    }
  };
  const_iterator begin() const { return const_iterator(map_.begin()); }
  const_iterator end() const { return const_iterator(map_.end()); }

  friend bool operator==(const ShardedSet& a, const ShardedSet& b) { return a.map_ == b.map_; }
  // Calls visit(key, is_in) for each key that only one of the two has.
  template <typename Visit>
  void ForEachDifference(const ShardedSet& before, Visit&& visit) const {
    map_.ForEachDifference(before.map_, [&visit](const Key& key, const auto*, const std::monostate* is) {
      visit(key, is != nullptr);
    });
  }

 private:
  Map map_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_SHARDED_MAP_H_
