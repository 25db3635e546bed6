#ifndef FAIRLEAD_REGISTRATION_DECISION_H_
#define FAIRLEAD_REGISTRATION_DECISION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/labels.h"
#include "config/object.h"
#include "model/proxy.h"
#include "registration/entry.h"
#include "registration/new_entry.h"

// What is to be done with a WorkloadEntry, from the entry as it is now and what happened. Pure: whoever is
// refused a write, as the entry changed meanwhile, decides again. Source: Istio's pilot/pkg/autoregistration.
namespace fairlead::registration {

// A proxy that is connected to this replica.
struct ConnectedProxy {
  uint64_t stream = 0;
  model::ProxyPtr proxy;
  WallTime since{};
  bool registers = false;  // its entry is made for it; false: the entry is there before
};

// The last of an entry's proxies here has gone.
struct Departure {
  WallTime at{}, connected{};
};

struct ReportedHealth {
  bool healthy = false;
  std::string message;
  WallTime at{};
};

struct Rules {
  std::string replica;         // what this one is called in annotations
  bool check_identity = true;  // of a proxy against its entry
};

struct Step {
  enum class Kind : uint8_t { kNothing, kRefuse, kCreate, kAnnotate, kSetConditions, kDelete };
  Kind kind = Kind::kNothing;
  absl::Status refusal = {};               // kRefuse
  std::optional<NewEntry> made = {};       // kCreate
  LabelMap set = {};                       // kAnnotate
  std::vector<std::string> removed = {};   // likewise
  std::vector<Condition> conditions = {};  // kSetConditions: all of the status
};

// `entry`: null where there is none; `group`: the WorkloadGroup that the proxy names, null where there is
// none. An entry that another replica holds since later is left to that one, unless its proxy has gone there.
Step OnConnected(const Entry* entry, const config::ConfigPtr& group, const EntryName& name,
                 const ConnectedProxy& connection, const Rules& rules);
// REQUIRES: no proxy of the entry is connected here.
Step OnDeparted(const Entry* entry, const Departure& departure, const Rules& rules);
Step OnHealth(const Entry* entry, const ReportedHealth& health, const Rules& rules);
// The entry has been as the mark says (see MarkOf) for longer than it may.
Step OnExpired(const Entry* entry, const std::string& mark);

// Whether an entry that stays as it is now is to be cleaned up some day.
bool IsCleanedUp(const LabelMap& annotations, bool has_health);

}  // namespace fairlead::registration

#endif  // FAIRLEAD_REGISTRATION_DECISION_H_
