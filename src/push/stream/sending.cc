#include "push/stream/sending.h"

#include <utility>

namespace fairlead::push {

void Sending::Begin(Clock::time_point now, size_t size, metrics::Counter* errors) {
  under_way_ = true;
  given_up_ = false;
  size_ = size;
  errors_ = errors;
  traffic_start_ = traffic_->Begin();
  start_ = now;
  // The machine's own slowest rate: a thousand that are sent a large message at once all end at once, late.
  constexpr size_t kSlowestTogether = 64 << 20;
  const size_t together = static_cast<size_t>(traffic_start_.sharers) * size;
  deadline_ = now + patience_.timeout +
              std::chrono::seconds(size / patience_.slowest_rate + together / kSlowestTogether);
}

void Sending::End(bool taken, Clock::time_point now) {
  if (std::exchange(under_way_, false)) traffic_->End(size_, taken, now);
}

bool Sending::GiveUp(Clock::time_point now) {
  if (!under_way_ || given_up_ || now < deadline_ || patience_.timeout == Clock::duration::zero())
    return false;
  // Connections do not get equal shares: three times as much for the others is beyond chance.
  if (!traffic_->AtFault(traffic_start_, 3 * size_, now, patience_.timeout)) return false;
  if (errors_ != nullptr) errors_->Add();
  return given_up_ = true;
}

void Sending::Excuse(Clock::duration lost) {
  if (under_way_) deadline_ += lost;
}

}  // namespace fairlead::push
