#include "push/stream/track.h"

#include <algorithm>

namespace fairlead::push {
namespace {

constexpr size_t kRememberedStarts = 256;

}  // namespace

TrackPublicationPtr Track::Newest() const {
  std::lock_guard lock(mutex_);
  return newest_;
}

Track::Published Track::Publish(mesh::SnapshotPtr snapshot, const Reasons& reasons) {
  Published published;
  published.before = Newest();
  auto publication = std::make_shared<TrackPublication>();
  if (published.before != nullptr) publication->reached = published.before->reached;
  Reached& reached = publication->reached;
  ++reached.number;
  for (size_t i = 0; i < kReasonCount; ++i) reached.log.counts[i] += reasons.counts[i];
  if (reasons.everything) reached.log.everything = reached.number;
  publication->snapshot = std::move(snapshot);
  published.now = std::move(publication);
  std::lock_guard lock(mutex_);
  newest_ = published.now;
  starts_.push_back(reasons.first);
  if (starts_.size() > kRememberedStarts) starts_.pop_front();
  number_.store(newest_->reached.number, std::memory_order_release);
  return published;
}

Reasons Track::ReasonsSince(const Reached& reached, TrackPublicationPtr* newest) const {
  std::lock_guard lock(mutex_);
  *newest = newest_;
  const Reached& now = newest_->reached;
  Reasons since;
  for (size_t i = 0; i < kReasonCount; ++i) since.counts[i] = now.log.counts[i] - reached.log.counts[i];
  since.everything = now.log.everything > reached.number;
  // Not in order: endpoints overtake what is waited for.
  const auto missed = static_cast<ptrdiff_t>(std::min<uint64_t>(now.number - reached.number, starts_.size()));
  if (missed > 0) since.first = *std::min_element(starts_.end() - missed, starts_.end());
  return since;
}

}  // namespace fairlead::push
