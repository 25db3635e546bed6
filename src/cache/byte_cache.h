#ifndef FAIRLEAD_CACHE_BYTE_CACHE_H_
#define FAIRLEAD_CACHE_BYTE_CACHE_H_

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/container/node_hash_map.h"
#include "absl/hash/hash.h"
#include "base/clock.h"
#include "cache/resource.h"

namespace fairlead::cache {

// Encoded resources, or other values, by everything they were made from. `Inputs` is the whole input of a
// pure Build function, with operator== and AbslHashValue; entries are compared by full equality, so that a
// wrong hit is impossible. Pointers inside Inputs must own what they point to (shared_ptr): then equal
// pointers mean equal content. Thread-safe. Two threads that miss at once may both build; one result is kept.
// Eviction goes by time and by number: see Sweep.
template <typename Inputs, typename Value = Resource>
class ByteCache {
 public:
  using ValuePtr = std::shared_ptr<const Value>;

  // The cached value, or what `build` (Inputs -> ValuePtr, may be null: "there is none") makes of them.
  template <typename Build>
  ValuePtr GetOrBuild(const Inputs& inputs, Build&& build) {
    const size_t hash = absl::HashOf(inputs);
    Shard& shard = shards_[hash % kShards];
    {
      std::lock_guard lock(shard.mutex);
      auto it = shard.entries.find(inputs);
      if (it != shard.entries.end()) {
        it->second.used = true;
        return it->second.value;
      }
    }
    ValuePtr built = build(inputs);
    std::lock_guard lock(shard.mutex);
    return shard.entries.try_emplace(inputs, Entry{built}).first->second.value;
  }

  // Forgets values that were not asked for during `idle` and that the cache alone holds; where there are more
  // than `most`, those that were not asked for since the sweep before.
  void Sweep(Clock::time_point now, Clock::duration idle = kIdle, size_t most = kMost) {
    const bool crowded = size() > most;
    for (Shard& shard : shards_) {
      std::lock_guard lock(shard.mutex);
      absl::erase_if(shard.entries, [&](auto& entry) {
        Entry& e = entry.second;
        if (std::exchange(e.used, false)) e.last_used = now;
        return e.value.use_count() <= 1 && e.last_used != now && (crowded || now - e.last_used >= idle);
      });
    }
  }

  size_t size() const {
    size_t total = 0;
    for (const Shard& shard : shards_) {
      std::lock_guard lock(shard.mutex);
      total += shard.entries.size();
    }
    return total;
  }

 private:
  static constexpr size_t kShards = 16;
  static constexpr Clock::duration kIdle = std::chrono::seconds(15);
  static constexpr size_t kMost = 1 << 20;
  struct Entry {
    ValuePtr value;
    bool used = true;  // since the last sweep
    Clock::time_point last_used = {};
  };
  struct Shard {
    mutable std::mutex mutex;
    absl::node_hash_map<Inputs, Entry> entries;  // nodes: a table of large entries would be half empty
  };
  std::array<Shard, kShards> shards_;
};

}  // namespace fairlead::cache

#endif  // FAIRLEAD_CACHE_BYTE_CACHE_H_
