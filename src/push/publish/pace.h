#ifndef FAIRLEAD_PUSH_PUBLISH_PACE_H_
#define FAIRLEAD_PUSH_PUBLISH_PACE_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <utility>

#include "push/publish/debounce.h"
#include "push/stream/reason.h"

namespace fairlead::push {

// How often endpoints alone are published. In a storm each publication has more of them, so that it costs a
// proxy and the control plane less.
struct PaceOptions {
  size_t at_once = 20;    // that need not wait after a time of rest
  size_t per_second = 2;  // from then on; 0: none ever waits
  // The processor time that pushes have taken so far; must not block. Null: their cost does not matter.
  std::function<Clock::duration()> cost = {};
  // While endpoints change without a pause, their pushes take this share of one processor, and one follows
  // the other at the latest after the debounce's `max`. A pause is its `quiet` without a change.
  double share = 0.01;
};

// Lets a few through at once and the others at a rate (the generic cell rate algorithm, ITU-T I.371), which
// falls where a storm's pushes are dear. Pure but for `cost`; not thread-safe.
class Pace {
 public:
  Pace(PaceOptions options, DebounceOptions debounce)
      : options_(std::move(options)),
        debounce_(debounce),
        step_(options_.per_second == 0
                  ? Clock::duration(0)
                  : Clock::duration(std::chrono::seconds(1)) / static_cast<int64_t>(options_.per_second)),
        ahead_(step_ * static_cast<int64_t>(std::max<size_t>(options_.at_once, 1) - 1)) {}

  // When the next one is let through, `last` being the latest change; a time long past where that is now. It
  // moves on while the pushes before go on. `after_pause`: the first change came after a pause, so that this
  // is no storm.
  Clock::time_point Next(Clock::time_point last, bool after_pause) const {
    const Clock::time_point earned = earned_ - ahead_;
    return after_pause ? earned : std::max(earned, std::min(PaidFor(), last + debounce_.quiet));
  }

  void OnPublished(Clock::time_point now) {
    earned_ = std::max(earned_, now) + step_;
    published_ = now;
    if (options_.cost != nullptr) cost_ = options_.cost();
  }

 private:
  // When the pushes since the last publication have taken no more than their share.
  Clock::time_point PaidFor() const {
    if (options_.cost == nullptr || step_ == Clock::duration(0)) return published_;
    const std::chrono::duration<double> wait(std::chrono::duration<double>(options_.cost() - cost_).count() /
                                             options_.share);
    return published_ +
           (wait < debounce_.max ? std::chrono::duration_cast<Clock::duration>(wait) : debounce_.max);
  }

  const PaceOptions options_;
  const DebounceOptions debounce_;
  const Clock::duration step_, ahead_;
  Clock::time_point earned_{};     // when all that was let through would have come at the rate
  Clock::time_point published_{};  // last
  Clock::duration cost_{};         // of everything before it
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_PUBLISH_PACE_H_
