#ifndef FAIRLEAD_BASE_DURATION_H_
#define FAIRLEAD_BASE_DURATION_H_

#include <chrono>
#include <optional>
#include <string_view>

namespace fairlead {

// A duration as Go writes it, which is how Istio's flags, variables and node metadata are written: "10s",
// "1m30s", "1.5h", "100ms", "0". Units: h m s ms us µs ns. Nothing for anything else. Source: Go's
// time.ParseDuration.
std::optional<std::chrono::nanoseconds> ParseGoDuration(std::string_view text);

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_DURATION_H_
