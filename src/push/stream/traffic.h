#ifndef FAIRLEAD_PUSH_STREAM_TRAFFIC_H_
#define FAIRLEAD_PUSH_STREAM_TRAFFIC_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "push/stream/reason.h"

namespace fairlead::push {

// What all proxies together take of what they are sent. Tells a proxy that does not read from one that waits
// for its share of a busy machine: a thousand that connect at once all take long, and none of them is at
// fault. Thread-safe.
class Traffic {
 public:
  // What was so when a message began to be sent.
  struct Start {
    uint64_t taken = 0;   // bytes, by all proxies
    int64_t sharers = 1;  // messages under way, this one included
  };
  Start Begin();
  // The message was taken, or given up.
  void End(size_t size, bool taken, Clock::time_point now);

  // Whether a message that is overdue is so by its own proxy: because each of those that it shared with has
  // taken as much since, on average, or because nobody has taken anything for as long as `patience`.
  bool AtFault(const Start& start, size_t size, Clock::time_point now, Clock::duration patience) const;

 private:
  std::atomic<uint64_t> taken_{0};
  std::atomic<int64_t> under_way_{0};
  std::atomic<Clock::rep> last_taken_{0};  // since the clock's epoch
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_STREAM_TRAFFIC_H_
