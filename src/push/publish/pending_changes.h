#ifndef FAIRLEAD_PUSH_PUBLISH_PENDING_CHANGES_H_
#define FAIRLEAD_PUSH_PUBLISH_PENDING_CHANGES_H_

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "config/object.h"
#include "model/facts.h"
#include "push/publish/debounce.h"
#include "push/publish/pace.h"
#include "push/stream/reason.h"

namespace fairlead::push {

// What is applied and published together.
struct Pending {
  std::map<config::ObjectKey, config::ObjectChange> changes;  // the latest of each object
  model::Facts facts;
  Reasons reasons;
  bool empty() const { return changes.empty() && facts.empty() && !reasons.everything; }
};

// What was handed over and is not published yet. A batch (what one call hands over) is never torn: where one
// of its changes waits for quiet, all do. A batch of EndpointSlices and Pods alone need not wait, and
// overtakes what waits, unless that concerns it. Slices are published at once or, in a storm of them, at a
// pace. Pods alone, whose slices are on their way, wait as long as a burst's quiet. ServiceEntries of which
// the endpoints alone changed are as slices, as long as nothing waits. Pure; not thread-safe.
class PendingChanges {
 public:
  // With `debounce_endpoints` every batch waits (PILOT_ENABLE_EDS_DEBOUNCE).
  PendingChanges(DebounceOptions debounce, bool debounce_endpoints, PaceOptions pace = {})
      : quiet_(debounce.quiet),
        debounce_(debounce),
        pace_(std::move(pace), debounce),
        debounce_endpoints_(debounce_endpoints) {}

  // `endpoints_alone`: the batch brings nothing but other endpoints of ServiceEntries.
  void Add(std::vector<config::ObjectChange> batch, Clock::time_point now, bool endpoints_alone = false);
  void Add(const model::Facts& facts, Clock::time_point now);
  // Everything is to be published again, changed or not.
  void PushAll(Clock::time_point now);

  // When there is something to take; a time long past where that is now; nothing where nothing is pending.
  std::optional<Clock::time_point> Due() const;
  // What is due at `now`; with `quiet` also what waits.
  Pending Take(Clock::time_point now, bool quiet);

 private:
  void Begin(Clock::time_point now);
  bool Waits(std::span<const config::ObjectChange> batch) const;
  bool MayOvertake(const config::ObjectChange& change) const;
  bool SliceMayOvertake(const config::ObjectChange& slice) const;
  std::optional<Clock::time_point> EndpointsDue() const;
  bool IsWaiting(config::Kind kind) const;
  bool IsWaiting(config::Kind kind, const Interned& ns) const;
  bool IsWaitingPodOf(const config::ConfigObject& slice) const;

  const Clock::duration quiet_;
  Debounce debounce_;
  Pace pace_;
  const bool debounce_endpoints_;
  Pending waiting_;
  // Slices, Pods, and ServiceEntries with other endpoints. INVARIANT: of an object that is in both,
  // `waiting_` has the later version.
  Pending endpoints_;
  bool has_slices_ = false;           // endpoints_ has, or ServiceEntries
  Clock::time_point last_endpoints_;  // when endpoints_ got its latest
  bool after_pause_ = false;          // the first of endpoints_ came a burst's quiet after the one before
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_PUBLISH_PENDING_CHANGES_H_
