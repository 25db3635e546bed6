#ifndef FAIRLEAD_BASE_UNIQUE_ID_H_
#define FAIRLEAD_BASE_UNIQUE_ID_H_

#include <atomic>
#include <cstdint>

namespace fairlead {

// A number that the process has not given before and will not give again; never 0. Names an immutable object
// in keys that do not own it, where an address might come to be another object's. Thread-safe.
inline uint64_t NextUniqueId() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_UNIQUE_ID_H_
