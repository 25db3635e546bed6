#ifndef FAIRLEAD_PUSH_STREAM_TRACK_POSITION_H_
#define FAIRLEAD_PUSH_STREAM_TRACK_POSITION_H_

#include <atomic>
#include <cstdint>
#include <optional>

#include "push/stream/epoch.h"
#include "push/stream/track.h"

namespace fairlead::push {

// Where one stream stands: the track that it is to follow, and the publication that its client is brought to.
// Follow, Follows, following, AtNewest and ForgetInterests may be called from any thread, the rest by its
// owner, from one thread at a time.
class TrackPosition {
 public:
  // `track` and those that follow must outlive it.
  explicit TrackPosition(Track* track) : track_(track) {}

  // The track to follow from now on.
  void Follow(Track* track) { track_.store(track, std::memory_order_release); }
  bool Follows(const Track* track) const { return track_ == track || entered_ == track; }
  const Track* following() const { return track_.load(std::memory_order_acquire); }
  // Whether the client was brought to the newest publication of the track to follow.
  bool AtNewest() const;
  // The stream is gone.
  void ForgetInterests(const StreamPtr& stream) const;

  // The newest publication of the track to follow, the first that the client is brought to.
  void Start();
  struct Way {
    Reasons reasons;
    std::optional<TouchedReads> touched;  // of the interests as they were set last; nothing: perhaps all
  };
  // Goes on to the newest publication, on another track if that is to be followed now. Returns what was on
  // the way. REQUIRES: started.
  Way Advance(const StreamPtr& stream);
  // As AtNewest; where it is so, epoch() is that publication again, also after Leave. False where another one
  // comes at this moment: then the client is still to be brought to it, see Advance.
  bool Return();
  // Lets the snapshot go, as nothing is to be done for now. What is published meanwhile is not missed: either
  // the publisher finds the interests, or the stream finds the publication. REQUIRES: started.
  void Leave() { epoch_ = nullptr; }
  // What all that the client has was made from. REQUIRES: started.
  void SetInterests(const StreamPtr& stream, Interests::AllReads reads) {
    settled_ = entered_.load()->interests().Set(stream, std::move(reads), epoch_number_);
  }
  // What the client is being brought to; null after Leave.
  const EpochPtr& epoch() const { return epoch_; }

 private:
  void Enter(EpochPtr epoch, Track* track);

  EpochPtr epoch_;
  Reached reached_;                        // of the last epoch_
  std::atomic<Track*> track_;              // to follow
  std::atomic<Track*> entered_{nullptr};   // that the last epoch_ is of
  std::atomic<uint64_t> epoch_number_{0};  // of the last epoch_
  bool settled_ = false;  // the interests are those of all that was made, and were set in time
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_STREAM_TRACK_POSITION_H_
