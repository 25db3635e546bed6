#ifndef FAIRLEAD_BASE_CLOCK_H_
#define FAIRLEAD_BASE_CLOCK_H_

#include <chrono>

namespace fairlead {

// The clock of intervals and deadlines; it never goes back.
using Clock = std::chrono::steady_clock;

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_CLOCK_H_
