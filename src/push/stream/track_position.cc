#include "push/stream/track_position.h"

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
  settled_ = false;
  return true;
}

void TrackPosition::ForgetInterests(const StreamPtr& stream) const {
  if (Track* const entered = entered_.load()) entered->interests().Forget(stream);
}

void TrackPosition::Start() {
  Track* const track = track_.load(std::memory_order_acquire);
  Enter(track->Newest(), track);
}

TrackPosition::Way TrackPosition::Advance(const StreamPtr& stream) {
  Track* const track = track_.load(std::memory_order_acquire);
  if (track == entered_) {
    const uint64_t from = epoch_number_;
    const bool settled = settled_;
    EpochPtr newest;
    Way way{track->ReasonsSince(reached_, &newest), std::nullopt};
    Enter(std::move(newest), track);
    if (settled) way.touched = track->interests().TouchedSince(from, epoch_number_);
    return way;
  }
  ForgetInterests(stream);
  Reasons moved;
  moved.Add(Reason::kDebug);
  moved.first = Clock::now();
  Enter(track->Newest(), track);
  return {moved, std::nullopt};
}

void TrackPosition::Enter(EpochPtr epoch, Track* track) {
  epoch_ = std::move(epoch);
  reached_ = epoch_->reached;
  entered_ = track;
  epoch_number_ = reached_.number;
  settled_ = false;
}

}  // namespace fairlead::push
