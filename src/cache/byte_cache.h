#ifndef FAIRLEAD_CACHE_BYTE_CACHE_H_
#define FAIRLEAD_CACHE_BYTE_CACHE_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/container/node_hash_map.h"
#include "absl/hash/hash.h"
#include "cache/resource.h"

namespace fairlead::cache {

// Encoded resources by everything they were made from. `Inputs` is the whole input of a pure Build function,
// with operator== and AbslHashValue; entries are compared by full equality, so that a wrong hit is
// impossible. Pointers inside Inputs must own what they point to (shared_ptr): then equal pointers mean equal
// content. Thread-safe. Two threads that miss at once may both build; one result is kept. Eviction is by age:
// Sweep() drops what was not asked for during the last `kGenerations` sweeps and is nobody's any more; the
// owner sweeps after each publication of a snapshot.
template <typename Inputs>
class ByteCache {
 public:
  // The cached resource, or what `build` (Inputs -> ResourcePtr, may be null: "no such resource") makes of
  // it.
  template <typename Build>
  ResourcePtr GetOrBuild(const Inputs& inputs, Build&& build) {
    const size_t hash = absl::HashOf(inputs);
    Shard& shard = shards_[hash % kShards];
    const uint32_t now = generation_.load(std::memory_order_relaxed);
    {
      std::lock_guard lock(shard.mutex);
      auto it = shard.entries.find(inputs);
      if (it != shard.entries.end()) {
        it->second.used = now;
        hits_.fetch_add(1, std::memory_order_relaxed);
        return it->second.resource;
      }
    }
    misses_.fetch_add(1, std::memory_order_relaxed);
    ResourcePtr built = build(inputs);
    std::lock_guard lock(shard.mutex);
    return shard.entries.try_emplace(inputs, Entry{built, now}).first->second.resource;
  }

  void Sweep() {
    const uint32_t now = generation_.fetch_add(1, std::memory_order_relaxed) + 1;
    for (Shard& shard : shards_) {
      std::lock_guard lock(shard.mutex);
      absl::erase_if(shard.entries, [now](const auto& e) {
        return now - e.second.used > kGenerations && e.second.resource.use_count() <= 1;
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
  uint64_t hits() const { return hits_.load(std::memory_order_relaxed); }
  uint64_t misses() const { return misses_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kShards = 16;
  static constexpr uint32_t kGenerations = 8;
  struct Entry {
    ResourcePtr resource;
    uint32_t used;
  };
  struct Shard {
    mutable std::mutex mutex;
    absl::node_hash_map<Inputs, Entry> entries;  // nodes: a table of large entries would be half empty
  };
  std::array<Shard, kShards> shards_;
  std::atomic<uint32_t> generation_{0};
  std::atomic<uint64_t> hits_{0}, misses_{0};
};

}  // namespace fairlead::cache

#endif  // FAIRLEAD_CACHE_BYTE_CACHE_H_
