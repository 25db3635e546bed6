#ifndef FAIRLEAD_PUSH_STREAM_TRACK_H_
#define FAIRLEAD_PUSH_STREAM_TRACK_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "push/stream/interests.h"
#include "push/stream/reason.h"
#include "push/stream/track_publication.h"

namespace fairlead::push {

// The track that streams follow unless they are moved.
inline constexpr std::string_view kLiveTrack = "live";

// A sequence of publications that streams follow: the live mesh, or another one beside it. Thread-safe; one
// thread publishes.
class Track {
 public:
  explicit Track(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  // The newest publication; null before the first.
  TrackPublicationPtr Newest() const;
  // Its number; 0 before the first.
  uint64_t number() const { return number_.load(std::memory_order_acquire); }

  struct Published {
    TrackPublicationPtr before;  // null: this was the first
    TrackPublicationPtr now;
  };
  Published Publish(mesh::SnapshotPtr snapshot, const Reasons& reasons);
  // Why a stream goes from where it is to the newest publication, with which `newest` is set: all that the
  // publications in between were for.
  Reasons ReasonsSince(const Reached& reached, TrackPublicationPtr* newest) const;

  Interests& interests() { return interests_; }

 private:
  const std::string name_;
  mutable std::mutex mutex_;
  TrackPublicationPtr newest_;            // guarded by mutex_
  std::deque<Clock::time_point> starts_;  // of the last ones, newest_'s last; guarded by mutex_
  std::atomic<uint64_t> number_{0};       // of newest_
  Interests interests_;
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_STREAM_TRACK_H_
