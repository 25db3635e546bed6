#ifndef FAIRLEAD_CA_NEXT_LOOK_H_
#define FAIRLEAD_CA_NEXT_LOOK_H_

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/clock.h"

namespace fairlead::ca {

// When to look again at what is due at `due`, it being `now`, both in Unix seconds. The wall clock may be
// set, and goes on while the machine sleeps: it is asked at least every ten minutes.
inline Clock::time_point NextLookFor(int64_t due, int64_t now) {
  constexpr std::chrono::seconds kLeast{1}, kMost = std::chrono::minutes(10);
  return Clock::now() + std::clamp(std::chrono::seconds(due - now), kLeast, kMost);
}

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_NEXT_LOOK_H_
