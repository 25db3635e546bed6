#ifndef FAIRLEAD_PUSH_PENDING_CHANGES_H_
#define FAIRLEAD_PUSH_PENDING_CHANGES_H_

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "config/object.h"
#include "model/key_sets.h"
#include "model/settings.h"
#include "model/trust_bundle.h"
#include "push/debounce.h"
#include "push/reason.h"

namespace fairlead::push {

// What is published together.
struct Publication {
  std::map<config::ObjectKey, config::ObjectChange> changes;  // the latest of each object
  model::SettingsPtr settings;                                // null: as they were
  model::KeySetsPtr key_sets;                                 // null: as they were
  model::TrustBundlePtr trust_bundle;                         // null: as it was
  Reasons reasons;
  bool empty() const {
    return changes.empty() && settings == nullptr && key_sets == nullptr && trust_bundle == nullptr &&
           !reasons.everything;
  }
};

// What was handed over and is not published yet. A batch (what one call hands over) is never torn: where one
// of its changes waits for quiet, all do. A batch of EndpointSlices alone need not wait, and overtakes what
// waits, unless that concerns it. Pure; not thread-safe.
class PendingChanges {
 public:
  // With `debounce_endpoints` every batch waits (PILOT_ENABLE_EDS_DEBOUNCE).
  PendingChanges(DebounceOptions debounce, bool debounce_endpoints)
      : debounce_(debounce), debounce_endpoints_(debounce_endpoints) {}

  void Add(std::vector<config::ObjectChange> batch, Clock::time_point now);
  void SetSettings(model::SettingsPtr settings, Clock::time_point now);
  void SetKeySets(model::KeySetsPtr key_sets, Clock::time_point now);
  void SetTrustBundle(model::TrustBundlePtr trust_bundle, Clock::time_point now);
  // Everything is to be published again, changed or not.
  void PushAll(Clock::time_point now);

  // When there is something to take; a time long past where that is now; nothing where nothing is pending.
  std::optional<Clock::time_point> Due() const;
  // What is due at `now`; with `quiet` also what waits.
  Publication Take(Clock::time_point now, bool quiet);

 private:
  bool Waits(std::span<const config::ObjectChange> batch) const;
  bool MayOvertake(const config::ObjectChange& slice) const;
  bool IsWaiting(config::Kind kind) const;
  bool IsWaiting(config::Kind kind, const Interned& ns) const;
  bool IsWaitingPodOf(const config::ConfigObject& slice) const;

  Debounce debounce_;
  const bool debounce_endpoints_;
  Publication waiting_;
  // INVARIANT: of an object that is in both, `waiting_` has the later version.
  Publication endpoints_;
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_PENDING_CHANGES_H_
