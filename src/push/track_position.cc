#include "push/track_position.h"

#include <utility>

namespace fairlead::push {

bool TrackPosition::AtNewest() const {
  const Track* const track = track_.load(std::memory_order_acquire);
  return entered_ == track && epoch_number_ == track->number();
}

bool TrackPosition::Return() {
  if (!AtNewest()) return false;
  if (epoch_ != nullptr) return true;
  EpochPtr newest = entered_.load()->Newest();
  if (newest->reached.number != epoch_number_) return false;
  epoch_ = std::move(newest);
  return true;
}

void TrackPosition::ForgetInterests(const StreamPtr& stream) const {
  if (Track* const entered = entered_.load()) entered->interests().Forget(stream);
}

void TrackPosition::Start() {
  Track* const track = track_.load(std::memory_order_acquire);
  Enter(track->Newest(), track);
}

Reasons TrackPosition::Advance(const StreamPtr& stream) {
  Track* const track = track_.load(std::memory_order_acquire);
  if (track == entered_) {
    EpochPtr newest;
    Reasons reasons = track->ReasonsSince(reached_, &newest);
    Enter(std::move(newest), track);
    return reasons;
  }
  ForgetInterests(stream);
  Reasons moved;
  moved.Add(Reason::kDebug);
  moved.first = Clock::now();
  Enter(track->Newest(), track);
  return moved;
}

void TrackPosition::Enter(EpochPtr epoch, Track* track) {
  epoch_ = std::move(epoch);
  reached_ = epoch_->reached;
  entered_ = track;
  epoch_number_ = reached_.number;
}

}  // namespace fairlead::push
