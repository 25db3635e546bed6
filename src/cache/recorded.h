#ifndef FAIRLEAD_CACHE_RECORDED_H_
#define FAIRLEAD_CACHE_RECORDED_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/clock.h"
#include "cache/variants.h"

namespace fairlead::cache {

// Values by key, each with its recorded reads. A key may have several values (variants), made from different
// snapshots or for different clients: a value is given out wherever its reads hold. Nothing is declared: what
// a value depends on, besides its key, is what was read when it was made.
//
// INVARIANT: two values under one key whose reads hold in one world are equal.
//
// See Variants for what `Reads` offers, how a variant is found, and how many there may be. A value is made
// once for all that wait for it. Those wait whose client answers as the maker's does, as far as is known; no
// lock is held meanwhile. A pointer that is given out has a count of its own, whoever else holds what was
// made: a value of another cache, or the one that another world gave, which `make` found to be equal.
// Thread-safe. REQUIRES: `make` does not ask the same cache for the same key.
template <typename Key, typename Value, typename Reads>
class RecordedCache {
 public:
  using Result = Recorded<Value, Reads>;
  // Told of a value that a fresh one differs from although its reads hold: for tests and shadow mode.
  using Mismatch = std::function<void(const Key&, const Value& kept, const Value& fresh)>;

  // A value under the key whose reads hold in `world`, else what `make` (World, Value* like -> Result) makes
  // there. `like` is null, or a value that was given out lately, as it was made, if possible to a client with
  // the same answers: equal parts of it may be kept, or all of it be returned.
  template <typename World, typename Make>
  Result Get(const Key& key, const World& world, Make&& make) {
    const std::shared_ptr<Bucket> bucket = FindOrAdd(key);
    std::unique_lock lock(bucket->mutex);
    for (;;) {
      uint64_t client = 0;
      if (const Result* held = bucket->variants.Find(world, &client)) return *held;
      const std::shared_ptr<Making> other = bucket->MadeFor(client);
      if (other == nullptr) return MakeAndAdd(bucket.get(), std::move(lock), client, world, make);
      lock.unlock();
      other->done.wait(false);
      lock.lock();
    }
  }

  // As Get; but the value is made anew, and compared with the one that would have been given out.
  template <typename World, typename Make, typename Equal>
  Result GetInShadow(const Key& key, const World& world, Make&& make, Equal&& equal,
                     const Mismatch& mismatch) {
    const std::shared_ptr<Bucket> bucket = FindOrAdd(key);
    std::unique_lock lock(bucket->mutex);
    uint64_t client = 0;
    std::optional<Result> held;
    if (const Result* found = bucket->variants.Find(world, &client)) held = *found;
    lock.unlock();
    Result fresh = make(world, nullptr);
    if (!held) {
      lock.lock();
      return Add(bucket.get(), std::move(fresh));
    }
    if (equal(*held->value, *fresh.value)) return *held;
    mismatch(key, *held->value, *fresh.value);
    return fresh;
  }

  // Forgets values that were not asked for during `idle` and that the cache alone holds; where there are more
  // values than `most`, those that were not asked for since the sweep before. It waits for no maker.
  // REQUIRES: one thread at a time.
  void Sweep(Clock::time_point now, Clock::duration idle = kIdle, size_t most = kMost) {
    const bool crowded = size() > most;
    for (Shard& shard : shards_) {
      std::lock_guard lock(shard.mutex);
      absl::erase_if(shard.buckets, [&](const auto& entry) {
        Bucket& bucket = *entry.second;
        std::lock_guard bucket_lock(bucket.mutex);
        Count(&bucket, [&] { bucket.variants.Sweep(now, idle, crowded); });
        return bucket.variants.size() == 0 && entry.second.use_count() == 1;
      });
    }
  }

  // How many values there are.
  size_t size() const { return size_.load(std::memory_order_relaxed); }

 private:
  static constexpr Clock::duration kIdle = std::chrono::seconds(15);
  static constexpr size_t kMost = 1 << 20;
  static constexpr size_t kShards = 16;
  // A value that is being made.
  struct Making {
    uint64_t client;
    std::atomic<bool> done = false;
  };
  struct Bucket {
    std::mutex mutex;  // of what follows; never held while a value is made
    Variants<Value, Reads> variants;
    std::vector<std::shared_ptr<Making>> being_made;

    std::shared_ptr<Making> MadeFor(uint64_t client) const {
      for (const auto& one : being_made)
        if (one->client == client) return one;
      return nullptr;
    }
  };
  struct Shard {
    mutable std::mutex mutex;
    absl::flat_hash_map<Key, std::shared_ptr<Bucket>> buckets;  // guarded by mutex
  };

  std::shared_ptr<Bucket> FindOrAdd(const Key& key) {
    const size_t hash = typename decltype(Shard::buckets)::hasher()(key);
    Shard& shard = shards_[hash / 128 % kShards];  // absl's tables use the lowest seven bits themselves
    std::lock_guard lock(shard.mutex);
    if (const auto it = shard.buckets.find(key, hash); it != shard.buckets.end()) return it->second;
    return shard.buckets.emplace(key, std::make_shared<Bucket>()).first->second;
  }

  template <typename World, typename Make>
  Result MakeAndAdd(Bucket* bucket, std::unique_lock<std::mutex> lock, uint64_t client, const World& world,
                    Make&& make) {
    const auto making = std::make_shared<Making>(client);
    bucket->being_made.push_back(making);
    const std::shared_ptr<const Value> like = bucket->variants.Like(client);
    lock.unlock();
    Result made = make(world, like);
    lock.lock();
    std::erase(bucket->being_made, making);
    making->done = true;
    making->done.notify_all();
    return Add(bucket, std::move(made));
  }

  // REQUIRES: bucket->mutex is held.
  Result Add(Bucket* bucket, Result made) {
    Result given;
    Count(bucket, [&] { given = bucket->variants.Add(std::move(made)); });
    return given;
  }

  // REQUIRES: bucket->mutex is held.
  template <typename Change>
  void Count(Bucket* bucket, Change&& change) {
    const size_t before = bucket->variants.size();
    change();
    size_.fetch_add(bucket->variants.size() - before, std::memory_order_relaxed);
  }

  std::array<Shard, kShards> shards_;
  std::atomic<size_t> size_{0};
};

}  // namespace fairlead::cache

#endif  // FAIRLEAD_CACHE_RECORDED_H_
