#ifndef FAIRLEAD_BASE_EVENTUALLY_FIXTURE_H_
#define FAIRLEAD_BASE_EVENTUALLY_FIXTURE_H_

#include <chrono>
#include <thread>

#include "base/clock.h"

namespace fairlead {

// For tests: whether it holds within the time, looked at every few milliseconds.
template <typename Holds>
bool Eventually(Holds&& holds, std::chrono::milliseconds most = std::chrono::seconds(10)) {
  for (const auto end = Clock::now() + most; Clock::now() < end;) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return holds();
}

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_EVENTUALLY_FIXTURE_H_
