#ifndef FAIRLEAD_SOURCE_PLATFORM_RETRY_PAUSE_H_
#define FAIRLEAD_SOURCE_PLATFORM_RETRY_PAUSE_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>

namespace fairlead::source {

// How long to wait before a failed request is repeated: doubled with each failure in a row up to a bound, and
// a random part of it, so that many clients do not come back together.
class RetryPause {
 public:
  using Milliseconds = std::chrono::milliseconds;
  RetryPause(Milliseconds first, Milliseconds most, uint64_t seed)
      : first_(first), most_(most), random_(seed) {}

  // After a failure: between half of the wait and the whole.
  Milliseconds Next() {
    const size_t doublings = std::min<size_t>(failures_++, 20);
    const int64_t wait = std::min<int64_t>(most_.count(), first_.count() << doublings);
    return Milliseconds(std::uniform_int_distribution<int64_t>(wait / 2, wait)(random_));
  }
  void Reset() { failures_ = 0; }
  size_t failures() const { return failures_; }  // in a row

 private:
  Milliseconds first_, most_;
  std::mt19937_64 random_;
  size_t failures_ = 0;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_PLATFORM_RETRY_PAUSE_H_
