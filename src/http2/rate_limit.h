#ifndef FAIRLEAD_HTTP2_RATE_LIMIT_H_
#define FAIRLEAD_HTTP2_RATE_LIMIT_H_

#include <algorithm>
#include <chrono>

#include "base/clock.h"

namespace fairlead::http2 {

// So many at once, and so many a second from then on.
struct Rate {
  float burst;
  float per_second;
};

// A token bucket: what one peer has used of a rate.
class RateLimit {
 public:
  // Counts so many more; false: they are too many.
  bool Take(const Rate& rate, Clock::time_point now, float count = 1) {
    if (now > last_) {
      const float seconds = std::chrono::duration<float>(now - last_).count();
      used_ = std::max(0.f, used_ - seconds * rate.per_second);
      last_ = now;
    }
    if (used_ + count > rate.burst) return false;
    used_ += count;
    return true;
  }
  // Gives some back: what the peer does in answer to us is not its own doing.
  void Forgive(float count) { used_ = std::max(0.f, used_ - count); }

 private:
  Clock::time_point last_{};
  float used_ = 0;
};

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_RATE_LIMIT_H_
