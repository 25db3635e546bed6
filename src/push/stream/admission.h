#ifndef FAIRLEAD_PUSH_STREAM_ADMISSION_H_
#define FAIRLEAD_PUSH_STREAM_ADMISSION_H_

#include <chrono>
#include <mutex>
#include <optional>

#include "push/stream/reason.h"

namespace fairlead::push {

// Lets new streams in at a rate (Istio's PILOT_MAX_REQUESTS_PER_SECOND). A stream waits for its turn for at
// most a second; one that would have to wait longer is refused, so that its client tries another replica.
// Thread-safe.
class StreamAdmission {
 public:
  static constexpr std::chrono::seconds kLongestWait{1};

  // Streams a second; 0: no limit, the work that a stream makes bounds itself.
  explicit StreamAdmission(double rate) : rate_(rate) {}

  // When a stream that comes now may start; nothing: refused.
  std::optional<Clock::time_point> Admit(Clock::time_point now) {
    if (rate_ <= 0) return now;
    std::lock_guard lock(mutex_);
    const Clock::time_point start = std::max(now, next_);
    if (start - now > kLongestWait) return std::nullopt;
    next_ = start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / rate_));
    return start;
  }

 private:
  const double rate_;
  std::mutex mutex_;
  Clock::time_point next_{};  // when the next stream may start; guarded by mutex_
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_STREAM_ADMISSION_H_
