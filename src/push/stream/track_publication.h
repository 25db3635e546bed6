#ifndef FAIRLEAD_PUSH_STREAM_TRACK_PUBLICATION_H_
#define FAIRLEAD_PUSH_STREAM_TRACK_PUBLICATION_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "mesh/index/snapshot.h"
#include "push/stream/reason.h"

namespace fairlead::push {

// How far a client was brought: the publication's number on its track, and what was published up to it.
struct Reached {
  uint64_t number = 0;  // counts publications, from 1
  PublicationLog log = {};
};

// One publication of a track. Immutable.
struct TrackPublication {
  Reached reached;
  mesh::SnapshotPtr snapshot;
  Clock::time_point published_at = Clock::now();
};
using TrackPublicationPtr = std::shared_ptr<const TrackPublication>;

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_STREAM_TRACK_PUBLICATION_H_
