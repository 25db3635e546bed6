#include "transport/read_budget.h"

#include <utility>

namespace fairlead::transport {

bool ReadBudget::Claim(Claimant* claimant, size_t bytes, Clock::time_point now) {
  claimant->claimed_ = bytes;
  if (waiting_.empty() && HasRoomFor(bytes)) {
    taken_ += bytes;
    return true;
  }
  claimant->waits_ = true;
  claimant->end_ = now + patience_;
  claimant->place_ = waiting_.insert(waiting_.end(), claimant);
  return false;
}

void ReadBudget::Release(Claimant* claimant) {
  const size_t bytes = std::exchange(claimant->claimed_, 0);
  if (std::exchange(claimant->waits_, false)) {
    waiting_.erase(claimant->place_);
  } else {
    taken_ -= bytes;
  }
}

Clock::time_point ReadBudget::Admit(Clock::time_point now) {
  while (!waiting_.empty()) {
    Claimant* const first = waiting_.front();
    if (!HasRoomFor(first->claimed_) && first->end_ > now) return first->end_;
    waiting_.pop_front();
    first->waits_ = false;
    taken_ += first->claimed_;
    first->OnAdmitted();
  }
  return Clock::time_point::max();
}

}  // namespace fairlead::transport
