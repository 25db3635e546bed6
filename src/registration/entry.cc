#include "registration/entry.h"

#include <algorithm>
#include <ctime>

#include "base/strings.h"
#include "base/time_text.h"

namespace fairlead::registration {
namespace {

constexpr std::string_view kConnected = "connected ";

}  // namespace

const Condition* Entry::Find(std::string_view type) const {
  const auto it = std::find_if(conditions.begin(), conditions.end(),
                               [type](const Condition& condition) { return condition.type == type; });
  return it == conditions.end() ? nullptr : &*it;
}

std::string MarkOf(const LabelMap& annotations) {
  if (const std::string_view at = LabelOr(annotations, kConnectedAnnotation); !at.empty())
    return StrCat(kConnected, at);
  const std::string_view at = LabelOr(annotations, kDisconnectedAnnotation);
  return at.empty() ? "" : StrCat("disconnected ", at);
}

bool IsMarkOfConnection(std::string_view mark) { return mark.starts_with(kConnected); }

std::string TimeText(WallTime time) {
  using std::chrono::nanoseconds;
  const auto since = std::chrono::duration_cast<nanoseconds>(time.time_since_epoch());
  const auto whole = std::chrono::floor<std::chrono::seconds>(since);
  const std::time_t seconds = whole.count();
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::string out(text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts));
  if (const auto rest = (since - whole).count(); rest != 0) {
    std::string digits = std::to_string(rest);
    digits.insert(0, 9 - digits.size(), '0');
    digits.erase(digits.find_last_not_of('0') + 1);
    StrAppend(&out, ".", digits);
  }
  return out + "Z";
}

std::optional<WallTime> ParseTime(std::string_view text) {
  const auto parsed = ParseTimestamp(text);
  if (!parsed) return std::nullopt;
  // A time beyond the clock's range counts as none.
  constexpr int64_t kMost = 9'000'000'000;
  if (parsed->seconds > kMost || parsed->seconds < -kMost) return std::nullopt;
  return WallTime(std::chrono::duration_cast<WallTime::duration>(std::chrono::seconds(parsed->seconds) +
                                                                 std::chrono::nanoseconds(parsed->nanos)));
}

}  // namespace fairlead::registration
