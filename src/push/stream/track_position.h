#ifndef FAIRLEAD_PUSH_STREAM_TRACK_POSITION_H_
#define FAIRLEAD_PUSH_STREAM_TRACK_POSITION_H_

#include <atomic>
#include <cstdint>
#include <optional>

#include "push/stream/track.h"
#include "push/stream/track_publication.h"

namespace fairlead::push {

// Where one stream stands: the track that it is to follow, and the publication that its client is brought to.
//
//   new -- BringToFirst --> held -- Release --> released
//   released -- Reacquire, where there is no newer one --> held
//   held or released -- BringToNewest --> held, a newer one
//
// Follow, Follows, following, IsAtNewest and ForgetInterests may be called from any thread, the rest by its
// owner, from one thread at a time.
class TrackPosition {
 public:
  // `track` and those that follow must outlive it.
  explicit TrackPosition(Track* track) : track_(track) {}

  // The track to follow from now on.
  void Follow(Track* track) { track_.store(track, std::memory_order_release); }
  bool Follows(const Track* track) const { return track_ == track || current_ == track; }
  const Track* following() const { return track_.load(std::memory_order_acquire); }
  // Whether the client was brought to the newest publication of the track to follow.
  bool IsAtNewest() const;
  // The stream is gone.
  void ForgetInterests(const StreamPtr& stream) const;

  // The newest publication of the track to follow, the first that the client is brought to.
  void BringToFirst();
  struct Passed {
    Reasons reasons;
    std::optional<TouchedReads> touched;  // of the interests as they were set last; nothing: perhaps all
  };
  // Goes on to the newest publication, on another track if that is to be followed now. Returns what was on
  // the way. REQUIRES: brought to a first one.
  Passed BringToNewest(const StreamPtr& stream);
  // As IsAtNewest; where it is so, publication() is that publication again, also after Release. False where
  // another one comes at this moment: then the client is still to be brought to it, see BringToNewest.
  bool Reacquire();
  // Lets the snapshot go, as nothing is to be done for now. What is published meanwhile is not missed: either
  // the publisher finds the interests, or the stream finds the publication. REQUIRES: brought to a first one.
  void Release() { publication_ = nullptr; }
  // What all that the client has was made from. REQUIRES: brought to a first one.
  void SetInterests(const StreamPtr& stream, Interests::AllReads reads) {
    interests_in_time_ = current_.load()->interests().Set(stream, std::move(reads), number_);
  }
  // What the client is being brought to; null after Release.
  const TrackPublicationPtr& publication() const { return publication_; }

 private:
  void BringTo(TrackPublicationPtr publication, Track* track);

  TrackPublicationPtr publication_;
  Reached reached_;                       // of the last publication_
  std::atomic<Track*> track_;             // to follow
  std::atomic<Track*> current_{nullptr};  // that the last publication_ is of
  std::atomic<uint64_t> number_{0};       // of the last publication_
  bool interests_in_time_ = false;  // the interests are those of all that was made, and were set in time
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_STREAM_TRACK_POSITION_H_
