#include "base/closest_name.h"

#include <algorithm>

#include "base/strings.h"

namespace fairlead {

size_t EditDistance(std::string_view left, std::string_view right, Swap swap) {
  const std::string a = AsciiLower(left), b = AsciiLower(right);
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped =
          swap == Swap::kOneEdit && i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

std::string ClosestName(std::string_view name, const std::vector<std::string>& known) {
  constexpr size_t kLongest = 100;
  std::string closest;
  size_t least = name.size() / 3 + 1;
  if (name.size() > kLongest) return closest;
  for (const std::string& one : known) {
    const size_t distance = EditDistance(name, one, Swap::kOneEdit);
    if (distance >= least) continue;
    least = distance;
    closest = one;
  }
  return closest;
}

}  // namespace fairlead
