#ifndef FAIRLEAD_PUSH_PUBLISH_DEBOUNCE_H_
#define FAIRLEAD_PUSH_PUBLISH_DEBOUNCE_H_

#include <chrono>
#include <optional>

#include "push/stream/reason.h"

namespace fairlead::push {

// Istio's tuning variables PILOT_DEBOUNCE_AFTER and PILOT_DEBOUNCE_MAX.
struct DebounceOptions {
  Clock::duration quiet = std::chrono::milliseconds(100);
  Clock::duration max = std::chrono::seconds(10);
};

// When a burst of changes is over: after `quiet` without one, but at most `max` after the first. Pure; not
// thread-safe.
class Debounce {
 public:
  explicit Debounce(DebounceOptions options) : options_(options) {}

  void OnChange(Clock::time_point now) {
    if (!first_) first_ = now;
    last_ = now;
  }
  // When the burst is to be handled; nothing where there is none.
  std::optional<Clock::time_point> Due() const {
    if (!first_) return std::nullopt;
    return std::min(last_ + options_.quiet, *first_ + options_.max);
  }
  // The burst was handled; gives when it began.
  Clock::time_point Take() {
    const Clock::time_point first = *first_;
    first_.reset();
    return first;
  }

 private:
  DebounceOptions options_;
  std::optional<Clock::time_point> first_;
  Clock::time_point last_{};
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_PUBLISH_DEBOUNCE_H_
