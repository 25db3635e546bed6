#ifndef FAIRLEAD_JWKS_SCHEDULE_H_
#define FAIRLEAD_JWKS_SCHEDULE_H_

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "model/key_sets.h"

namespace fairlead::jwks {

// The sources of key sets that are wanted, each with the time that one fetch may take.
using Wanted = std::map<model::KeySource, Clock::duration>;

// When each key set is fetched, and what is known. A set is fetched again after a while, after a failure
// sooner and then ever later. A fetched set counts until it has not been refreshed for very long. Pure: time
// comes as an argument. Not thread-safe.
class Schedule {
 public:
  struct Options {
    Clock::duration refresh = std::chrono::minutes(20);  // more or less by a tenth
    Clock::duration first_retry = std::chrono::seconds(1), longest_retry = std::chrono::minutes(5);
    Clock::duration keep = std::chrono::hours(24 * 7);  // Istio's JwtPubKeyEvictionDuration
  };
  struct Order {
    model::KeySource source;
    Clock::duration timeout;
  };

  // `random` gives numbers from 0 to 1, evenly spread.
  Schedule(Options options, std::function<double()> random);

  // These from now on, and no others: new ones are due at once, what is known of those not wanted any more is
  // forgotten. True: that changed what is known.
  bool Want(const Wanted& wanted, Clock::time_point now);
  // The due key sets. Each is under way until its outcome is told.
  std::vector<Order> TakeDue(Clock::time_point now);
  // When there is something to take; nothing where all are under way or none is wanted.
  std::optional<Clock::time_point> NextDue() const;
  // Outcomes; of what is not wanted any more they mean nothing. True: what is known changed. The keys are the
  // text of a set; of one with the same keys as before the earlier text stays.
  bool Succeeded(const model::KeySource& source, std::string keys, Clock::time_point now);
  bool Failed(const model::KeySource& source, Clock::time_point now);

  // The sets that are known. A new pointer for each change.
  const model::KeySetsPtr& known() const { return known_; }
  size_t wanted() const { return entries_.size(); }
  // Whether each that is wanted was tried.
  bool Settled() const;

 private:
  struct Entry {
    Clock::duration timeout{};
    std::optional<Clock::time_point> due;  // nothing: under way
    bool tried = false;
    int failures = 0;  // since the last success
    Clock::time_point fetched{};
  };
  Clock::duration Spread(Clock::duration duration);
  void Change(const model::KeySource& source, model::KeySetPtr keys);

  const Options options_;
  const std::function<double()> random_;
  std::map<model::KeySource, Entry> entries_;
  model::KeySetsPtr known_ = std::make_shared<const model::KeySets>();
};

}  // namespace fairlead::jwks

#endif  // FAIRLEAD_JWKS_SCHEDULE_H_
