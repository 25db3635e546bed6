#include "http2/read_budget.h"

#include <utility>

namespace fairlead::http2 {

bool ReadBudget::Claim(Reader* reader, size_t bytes, Clock::time_point now) {
  reader->claimed_ = bytes;
  if (waiting_.empty() && HasRoomFor(bytes)) {
    taken_ += bytes;
    return true;
  }
  reader->waits_ = true;
  reader->end_ = now + patience_;
  reader->place_ = waiting_.insert(waiting_.end(), reader);
  return false;
}

void ReadBudget::Release(Reader* reader) {
  const size_t bytes = std::exchange(reader->claimed_, 0);
  if (std::exchange(reader->waits_, false)) {
    waiting_.erase(reader->place_);
  } else {
    taken_ -= bytes;
  }
}

Clock::time_point ReadBudget::Admit(Clock::time_point now) {
  while (!waiting_.empty()) {
    Reader* const first = waiting_.front();
    if (!HasRoomFor(first->claimed_) && first->end_ > now) return first->end_;
    waiting_.pop_front();
    first->waits_ = false;
    taken_ += first->claimed_;
    first->OnAdmitted();
  }
  return Clock::time_point::max();
}

}  // namespace fairlead::http2
