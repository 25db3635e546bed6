#ifndef FAIRLEAD_REGISTRY_SLOTS_H_
#define FAIRLEAD_REGISTRY_SLOTS_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace fairlead::registry {

// A list of values without order, each found by its key, so that one of many is replaced or removed at no
// more than its own cost. Writes into a vector that its owner reads; nobody else may change that vector.
template <typename Key, typename Value>
class Slots {
 public:
  explicit Slots(std::vector<Value>* values) : values_(values) {}

  void Set(const Key& key, Value value) {
    const auto [it, is_new] = positions_.try_emplace(key, values_->size());
    if (is_new) {
      keys_.push_back(key);
      values_->push_back(std::move(value));
    } else {
      (*values_)[it->second] = std::move(value);
    }
  }

  // A default value where the key has none.
  Value Get(const Key& key) const {
    const auto it = positions_.find(key);
    return it == positions_.end() ? Value() : (*values_)[it->second];
  }

  void Erase(const Key& key) {
    const auto it = positions_.find(key);
    if (it == positions_.end()) return;
    const size_t position = it->second;
    positions_.erase(it);
    // The last one fills the gap.
    if (position + 1 != values_->size()) {
      (*values_)[position] = std::move(values_->back());
      keys_[position] = std::move(keys_.back());
      positions_[keys_[position]] = position;
    }
    values_->pop_back();
    keys_.pop_back();
  }

 private:
  std::vector<Value>* values_;
  std::vector<Key> keys_;
  absl::flat_hash_map<Key, size_t> positions_;
};

}  // namespace fairlead::registry

#endif  // FAIRLEAD_REGISTRY_SLOTS_H_
