#include "push/stream/track_position.h"

#include <utility>

namespace fairlead::push {

bool TrackPosition::IsAtNewest() const {
  const Track* const track = track_.load(std::memory_order_acquire);
  return current_ == track && number_ == track->number();
}

bool TrackPosition::Reacquire() {
  if (!IsAtNewest()) return false;
  if (publication_ != nullptr) return true;
  TrackPublicationPtr newest = current_.load()->Newest();
  if (newest->reached.number != number_) return false;
  publication_ = std::move(newest);
  interests_in_time_ = false;
  return true;
}

void TrackPosition::ForgetInterests(const StreamPtr& stream) const {
  if (Track* const current = current_.load()) current->interests().Forget(stream);
}

void TrackPosition::BringToFirst() {
  Track* const track = track_.load(std::memory_order_acquire);
  BringTo(track->Newest(), track);
}

TrackPosition::Passed TrackPosition::BringToNewest(const StreamPtr& stream) {
  Track* const track = track_.load(std::memory_order_acquire);
  if (track == current_) {
    const uint64_t from = number_;
    const bool in_time = interests_in_time_;
    TrackPublicationPtr newest;
    Passed passed{track->ReasonsSince(reached_, &newest), std::nullopt};
    BringTo(std::move(newest), track);
    if (in_time) passed.touched = track->interests().TouchedSince(from, number_);
    return passed;
  }
  ForgetInterests(stream);
  Reasons moved;
  moved.Add(Reason::kDebug);
  moved.first = Clock::now();
  BringTo(track->Newest(), track);
  return {moved, std::nullopt};
}

void TrackPosition::BringTo(TrackPublicationPtr publication, Track* track) {
  publication_ = std::move(publication);
  reached_ = publication_->reached;
  current_ = track;
  number_ = reached_.number;
  interests_in_time_ = false;
}

}  // namespace fairlead::push
