#ifndef FAIRLEAD_BASE_TIME_TEXT_H_
#define FAIRLEAD_BASE_TIME_TEXT_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace fairlead {

// Seconds and nanoseconds as protobuf's Duration and Timestamp hold them: for durations both have one sign,
// for points in time the nanoseconds are positive.
struct SecondsAndNanos {
  int64_t seconds = 0;
  int32_t nanos = 0;
  friend bool operator==(const SecondsAndNanos&, const SecondsAndNanos&) = default;
};

// "1.5s" (protobuf's JSON form), "1h30m", "250us", "-2ms", "0" (Go's form, which Istio reads everywhere).
// Nothing where the text is neither, or is beyond protobuf's 10,000 years.
std::optional<SecondsAndNanos> ParseDuration(std::string_view text);

// RFC 3339: "2026-01-02T03:04:05.678Z", "…+02:00"; years 1 to 9999.
std::optional<SecondsAndNanos> ParseTimestamp(std::string_view text);

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_TIME_TEXT_H_
