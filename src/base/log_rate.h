#ifndef FAIRLEAD_BASE_LOG_RATE_H_
#define FAIRLEAD_BASE_LOG_RATE_H_

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/strings.h"

namespace fairlead {

// How many lines of the log each peer may cause: some at once, then one a second. Thread-safe; its memory is
// bounded: peers beyond a thousand are forgotten when they are silent, and share one rate until then.
class LogRate {
 public:
  explicit LogRate(double burst = 10, double per_second = 1) : burst_(burst), per_second_(per_second) {}

  // Nothing: the line is not to be written. Else what is to be added to it: "", or how many lines of the peer
  // were left out since the last one.
  std::optional<std::string> Admit(std::string_view peer, Clock::time_point now);
  std::optional<std::string> Admit(std::string_view peer) { return Admit(peer, Clock::now()); }

 private:
  struct State {
    double tokens;
    Clock::time_point since;
    size_t left_out = 0;
  };
  State& StateOf(std::string_view peer, Clock::time_point now);  // REQUIRES: mutex_ held
  void Refill(State* state, Clock::time_point now) const;

  const double burst_, per_second_;
  std::mutex mutex_;
  StringMap<State> peers_;     // guarded by mutex_
  Clock::time_point swept_{};  // likewise: when the silent were forgotten last
};

// The host of a peer's address: of "ipv4:10.0.0.1:43210", or "10.0.0.1:43210", "10.0.0.1".
std::string_view HostOfPeer(std::string_view address);

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_LOG_RATE_H_
