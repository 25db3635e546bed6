#ifndef FAIRLEAD_CACHE_OWN_COUNT_H_
#define FAIRLEAD_CACHE_OWN_COUNT_H_

#include <memory>
#include <utility>

namespace fairlead::cache {

// A pointer to the same value with a count of its own. Caches forget what they alone hold. A cache that gives
// out what a cache below it holds too gives out such pointers: otherwise each of the two would keep the value
// for the other's sake. `value` is not null.
template <typename Value>
std::shared_ptr<const Value> WithOwnCount(std::shared_ptr<const Value> value) {
  const auto holder = std::make_shared<const std::shared_ptr<const Value>>(std::move(value));
  return {holder, holder->get()};
}

}  // namespace fairlead::cache

#endif  // FAIRLEAD_CACHE_OWN_COUNT_H_
