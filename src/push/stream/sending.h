#ifndef FAIRLEAD_PUSH_STREAM_SENDING_H_
#define FAIRLEAD_PUSH_STREAM_SENDING_H_

#include <cstddef>

#include "base/clock.h"
#include "base/metrics.h"
#include "push/stream/traffic.h"

namespace fairlead::push {

// The message of one stream that is under way, and until when its proxy may take it. Not thread-safe.
class Sending {
 public:
  // How long a message may be under way: this time, and a second more for each `slowest_rate` bytes of it.
  // Zero: as long as it likes.
  struct Patience {
    Clock::duration timeout;
    size_t slowest_rate;
  };
  // `traffic` is that of all proxies, and must outlive it.
  Sending(Traffic* traffic, const Patience& patience) : traffic_(traffic), patience_(patience) {}

  bool under_way() const { return under_way_; }
  // Since when the last message was or is under way.
  Clock::time_point start() const { return start_; }
  // `errors` counts if the proxy does not read it; null: nothing does. REQUIRES: none is under way.
  void Begin(Clock::time_point now, size_t size, metrics::Counter* errors);
  // The message was taken, or given up. Nothing if none was under way.
  void End(bool taken, Clock::time_point now);
  // Whether the message is overdue by the proxy's own fault: true once a message, which then counts as an
  // error and stays under way until the transport gives it back, as no other may follow it.
  bool GiveUp(Clock::time_point now);
  // The message may take so much longer.
  void Excuse(Clock::duration lost);

 private:
  Traffic* const traffic_;
  const Patience patience_;
  bool under_way_ = false, given_up_ = false;
  size_t size_ = 0;  // bytes
  metrics::Counter* errors_ = nullptr;
  Traffic::Start traffic_start_;
  Clock::time_point start_{}, deadline_{};
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_STREAM_SENDING_H_
