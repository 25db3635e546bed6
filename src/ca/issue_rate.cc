#include "ca/issue_rate.h"

#include <algorithm>
#include <chrono>

namespace fairlead::ca {

IssueRate::Verdict IssueRate::Take(const std::string& requester, Clock::time_point now) {
  if (limits_.per_second <= 0) return Verdict::kGranted;
  const auto price =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / limits_.per_second));
  std::lock_guard lock(mutex_);
  if (requesters_.size() >= look_at_) Forget(now);
  Requester& one = requesters_[requester];
  const Clock::time_point paid = std::max(one.paid_until, now) + price;
  if (paid - now > price * limits_.burst) {
    const bool first = !one.refused;
    one.refused = true;
    return first ? Verdict::kFirstRefused : Verdict::kRefused;
  }
  one.paid_until = paid;
  return Verdict::kGranted;
}

size_t IssueRate::known() const {
  std::lock_guard lock(mutex_);
  return requesters_.size();
}

// Whose time is over has all of its burst again, as one that was never known. Certificates are dear enough
// that few are left: those of the last burst's time.
void IssueRate::Forget(Clock::time_point now) {
  absl::erase_if(requesters_, [now](const auto& known) { return known.second.paid_until <= now; });
  look_at_ = std::max<size_t>(1024, 2 * requesters_.size());
}

}  // namespace fairlead::ca
