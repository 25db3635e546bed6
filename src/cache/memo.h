#ifndef FAIRLEAD_CACHE_MEMO_H_
#define FAIRLEAD_CACHE_MEMO_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace fairlead::cache {

// Results of a function of a key and of something that changes with time, which a stamp stands for: a result
// holds for one stamp and makes way for that of another. Each is computed once; whoever asks meanwhile waits.
// Thread-safe.
template <typename Key, typename Value, typename Stamp = uint64_t>
class Memo {
 public:
  // What `compute` (Key -> Value) made of the key at this stamp.
  template <typename Compute>
  std::shared_ptr<const Value> Get(const Key& key, const Stamp& stamp, Compute&& compute) {
    const std::shared_ptr<Slot> slot = FindOrAdd(key);
    std::lock_guard lock(slot->mutex);
    if (slot->value == nullptr || !(slot->stamp == stamp)) {
      slot->value = std::make_shared<const Value>(compute(key));
      slot->stamp = stamp;
    }
    return slot->value;
  }

  // Forgets what was not asked for during the last few sweeps.
  void Sweep() {
    std::lock_guard lock(mutex_);
    ++generation_;
    absl::erase_if(slots_,
                   [this](const auto& entry) { return generation_ - entry.second->used > kGenerations; });
  }

  size_t size() const {
    std::lock_guard lock(mutex_);
    return slots_.size();
  }

 private:
  static constexpr uint32_t kGenerations = 8;
  struct Slot {
    uint32_t used = 0;  // guarded by the memo's lock
    std::mutex mutex;   // of what follows
    Stamp stamp{};
    std::shared_ptr<const Value> value;
  };

  std::shared_ptr<Slot> FindOrAdd(const Key& key) {
    std::lock_guard lock(mutex_);
    std::shared_ptr<Slot>& slot = slots_[key];
    if (slot == nullptr) slot = std::make_shared<Slot>();
    slot->used = generation_;
    return slot;
  }

  mutable std::mutex mutex_;
  absl::flat_hash_map<Key, std::shared_ptr<Slot>> slots_;
  uint32_t generation_ = 0;
};

}  // namespace fairlead::cache

#endif  // FAIRLEAD_CACHE_MEMO_H_
