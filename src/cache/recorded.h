#ifndef FAIRLEAD_CACHE_RECORDED_H_
#define FAIRLEAD_CACHE_RECORDED_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/clock.h"

namespace fairlead::cache {

// A value with what was read to make it. Both are immutable and never null once made.
template <typename Value, typename Reads>
struct Recorded {
  std::shared_ptr<const Value> value;
  std::shared_ptr<const Reads> reads;
};

// Values by key, each with its recorded reads. A key may have several values, made from different snapshots
// or for different clients: a value is given out wherever its reads hold. Nothing is declared: what a value
// depends on, besides its key, is what was read when it was made.
//
// INVARIANT: two values under one key whose reads hold in one world are equal.
//
// `Reads` has `bool Hold(const World&) const`, for the `World` that Get is called with. A value is made once
// for all that wait for it. Eviction goes by time and by number: see Sweep and kMaxVariants. A pointer that
// is given out has a count of its own, whoever else holds what was made: a value of another cache, or the one
// that another world gave, which `make` found to be equal. Thread-safe. REQUIRES: `make` does not ask the
// same cache for the same key.
template <typename Key, typename Value, typename Reads>
class RecordedCache {
 public:
  using Result = Recorded<Value, Reads>;
  // Told of a value that a fresh one differs from although its reads hold: for tests and shadow mode.
  using Mismatch = std::function<void(const Key&, const Value& kept, const Value& fresh)>;

  // A value under the key whose reads hold in `world`, else what `make` (World, Value* like -> Result) makes
  // there; `like` is the value that was given out last, as it was made, or null: equal parts of it may be
  // kept, or all of it be returned.
  template <typename World, typename Make>
  Result Get(const Key& key, const World& world, Make&& make) {
    const std::shared_ptr<Slot> slot = FindOrAdd(key);
    std::lock_guard lock(slot->mutex);
    if (const Result* held = Find(slot.get(), world)) return *held;
    return Add(slot.get(), make(world, slot->variants.empty() ? nullptr : slot->variants.front().as_made));
  }

  // As Get; but the value is made anew, and compared with the one that would have been given out.
  template <typename World, typename Make, typename Equal>
  Result GetInShadow(const Key& key, const World& world, Make&& make, Equal&& equal,
                     const Mismatch& mismatch) {
    const std::shared_ptr<Slot> slot = FindOrAdd(key);
    std::lock_guard lock(slot->mutex);
    const Result* held = Find(slot.get(), world);
    Result fresh = make(world, nullptr);
    if (held == nullptr) return Add(slot.get(), std::move(fresh));
    if (equal(*held->value, *fresh.value)) return *held;
    mismatch(key, *held->value, *fresh.value);
    return fresh;
  }

  // Forgets values that were not asked for during `idle` and that the cache alone holds; where there are more
  // values than `most`, those that were not asked for since the sweep before. Passes over what is being made:
  // it never waits. REQUIRES: one thread at a time.
  void Sweep(Clock::time_point now, Clock::duration idle = kIdle, size_t most = kMost) {
    const bool crowded = size() > most;
    for (Shard& shard : shards_) {
      std::lock_guard lock(shard.mutex);
      absl::erase_if(shard.slots, [&](const auto& entry) {
        Slot& slot = *entry.second;
        std::unique_lock slot_lock(slot.mutex, std::try_to_lock);
        if (!slot_lock.owns_lock()) return false;
        Forget(&slot, [&](Variant& variant) {
          if (variant.used) variant.last_used = now;
          const bool unused = !std::exchange(variant.used, false);
          return unused && IsAlone(variant) && (crowded || now - variant.last_used >= idle);
        });
        return slot.variants.empty() && entry.second.use_count() == 1;
      });
    }
  }

  // How many values there are.
  size_t size() const { return size_.load(std::memory_order_relaxed); }

 private:
  static constexpr Clock::duration kIdle = std::chrono::seconds(15);
  static constexpr size_t kMost = 1 << 20;
  // More values of one key are not worth the search.
  static constexpr size_t kMaxVariants = 64;
  // Of those that nobody else holds any more, as many as let a mesh go back to where it was are enough.
  static constexpr size_t kMaxAlone = 4;
  static constexpr size_t kShards = 16;
  struct Variant {
    Result given;                          // its value has a count of its own
    std::shared_ptr<const Value> as_made;  // the same value
    bool used = true;                      // since the last sweep
    Clock::time_point last_used = {};
  };
  struct Slot {
    std::mutex mutex;               // of what follows
    std::vector<Variant> variants;  // the last one given out is the first
  };

  using Slots = absl::flat_hash_map<Key, std::shared_ptr<Slot>>;
  struct Shard {
    mutable std::mutex mutex;
    Slots slots;  // guarded by mutex
  };

  static bool IsAlone(const Variant& variant) { return variant.given.value.use_count() <= 1; }

  std::shared_ptr<Slot> FindOrAdd(const Key& key) {
    const size_t hash = typename Slots::hasher()(key);
    Shard& shard = shards_[hash / 128 % kShards];  // absl's tables use the lowest seven bits themselves
    std::lock_guard lock(shard.mutex);
    if (const auto it = shard.slots.find(key, hash); it != shard.slots.end()) return it->second;
    return shard.slots.emplace(key, std::make_shared<Slot>()).first->second;
  }

  // REQUIRES: slot->mutex is held.
  template <typename World>
  static const Result* Find(Slot* slot, const World& world) {
    for (auto it = slot->variants.begin(); it != slot->variants.end(); ++it) {
      if (!it->given.reads->Hold(world)) continue;
      it->used = true;
      std::rotate(slot->variants.begin(), it, it + 1);
      return &slot->variants.front().given;
    }
    return nullptr;
  }

  // REQUIRES: slot->mutex is held.
  Result Add(Slot* slot, Result made) {
    size_t alone = 0;
    Forget(slot, [&](const Variant& variant) { return IsAlone(variant) && ++alone > kMaxAlone; });
    if (slot->variants.size() >= kMaxVariants)
      slot->variants.pop_back();
    else
      size_.fetch_add(1, std::memory_order_relaxed);
    Variant variant{.given = {WithOwnCount(made.value), std::move(made.reads)},
                    .as_made = std::move(made.value)};
    return slot->variants.insert(slot->variants.begin(), std::move(variant))->given;
  }

  // REQUIRES: slot->mutex is held.
  template <typename Predicate>
  void Forget(Slot* slot, Predicate&& predicate) {
    size_.fetch_sub(std::erase_if(slot->variants, predicate), std::memory_order_relaxed);
  }

  static std::shared_ptr<const Value> WithOwnCount(const std::shared_ptr<const Value>& value) {
    const auto holder = std::make_shared<const std::shared_ptr<const Value>>(value);
    return {holder, holder->get()};
  }

  std::array<Shard, kShards> shards_;
  std::atomic<size_t> size_{0};
};

}  // namespace fairlead::cache

#endif  // FAIRLEAD_CACHE_RECORDED_H_
