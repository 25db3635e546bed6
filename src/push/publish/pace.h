#ifndef FAIRLEAD_PUSH_PUBLISH_PACE_H_
#define FAIRLEAD_PUSH_PUBLISH_PACE_H_

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "push/stream/reason.h"

namespace fairlead::push {

// How often endpoints alone are published. In a storm each publication has more of them, so that it costs a
// proxy and the control plane less.
struct PaceOptions {
  size_t at_once = 20;    // that need not wait after a time of rest
  size_t per_second = 2;  // from then on; 0: none ever waits
};

// Lets a few through at once and the others at a rate (the generic cell rate algorithm, ITU-T I.371). Pure;
// not thread-safe.
class Pace {
 public:
  explicit Pace(PaceOptions options)
      : step_(options.per_second == 0
                  ? Clock::duration(0)
                  : Clock::duration(std::chrono::seconds(1)) / static_cast<int64_t>(options.per_second)),
        ahead_(step_ * static_cast<int64_t>(std::max<size_t>(options.at_once, 1) - 1)) {}

  // When the next one is let through; a time long past where that is now.
  Clock::time_point Next() const { return earned_ - ahead_; }
  void OnPublished(Clock::time_point now) { earned_ = std::max(earned_, now) + step_; }

 private:
  const Clock::duration step_, ahead_;
  Clock::time_point earned_{};  // when all that was let through would have come at the rate
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_PUBLISH_PACE_H_
