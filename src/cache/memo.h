#ifndef FAIRLEAD_CACHE_MEMO_H_
#define FAIRLEAD_CACHE_MEMO_H_

#include <memory>
#include <mutex>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace fairlead::cache {

// Results of a function by its whole argument, as ByteCache keeps them, for values of any kind and for
// arguments that live as long as one snapshot: Clear() drops everything at once. Thread-safe; two threads
// that miss at once may both compute, one result is kept.
template <typename Key, typename Value>
class Memo {
 public:
  // What `compute` (Key -> Value) made of the key.
  template <typename Compute>
  std::shared_ptr<const Value> Get(const Key& key, Compute&& compute) {
    {
      std::lock_guard lock(mutex_);
      if (auto it = values_.find(key); it != values_.end()) return it->second;
    }
    auto made = std::make_shared<const Value>(compute(key));
    std::lock_guard lock(mutex_);
    return values_.try_emplace(key, std::move(made)).first->second;
  }

  void Clear() {
    absl::flat_hash_map<Key, std::shared_ptr<const Value>> dropped;  // freed after the lock
    std::lock_guard lock(mutex_);
    values_.swap(dropped);
  }

  size_t size() const {
    std::lock_guard lock(mutex_);
    return values_.size();
  }

 private:
  mutable std::mutex mutex_;
  absl::flat_hash_map<Key, std::shared_ptr<const Value>> values_;
};

}  // namespace fairlead::cache

#endif  // FAIRLEAD_CACHE_MEMO_H_
