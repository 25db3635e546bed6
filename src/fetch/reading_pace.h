#ifndef FAIRLEAD_FETCH_READING_PACE_H_
#define FAIRLEAD_FETCH_READING_PACE_H_

#include <chrono>
#include <cstdint>

#include "base/clock.h"

namespace fairlead::fetch {

// Whether answers come as a storm of small pieces, as the watches of an API server do while hundreds of pods
// change. To be woken for each piece costs more than its bytes do, so that the reader then lets some come
// together. A single piece never waits, and large answers are read as fast as they come. Pure; not
// thread-safe.
class ReadingPace {
 public:
  // A window's readings, and its bytes, that make the next window a storm's. A storm that is read with pauses
  // has fewer readings.
  static constexpr std::chrono::milliseconds kWindow{250};
  static constexpr int kStormBegins = 25, kStormGoesOn = 3;
  static constexpr uint64_t kMostBytes = 300'000;
  static constexpr std::chrono::milliseconds kPause{50};

  void OnRead(uint64_t bytes, Clock::time_point now) {
    if (now >= begun_ + kWindow) {
      const bool ended_just_now = now < begun_ + 2 * kWindow;
      storm_ = ended_just_now && bytes_ < kMostBytes && readings_ >= (storm_ ? kStormGoesOn : kStormBegins);
      begun_ = now;
      readings_ = 0;
      bytes_ = 0;
    }
    ++readings_;
    bytes_ += bytes;
    if (bytes_ >= kMostBytes) storm_ = false;
  }

  // How long to wait before the next reading.
  std::chrono::milliseconds Pause() const { return storm_ ? kPause : std::chrono::milliseconds(0); }

 private:
  Clock::time_point begun_{};  // the window
  int readings_ = 0;
  uint64_t bytes_ = 0;
  bool storm_ = false;
};

}  // namespace fairlead::fetch

#endif  // FAIRLEAD_FETCH_READING_PACE_H_
