#ifndef FAIRLEAD_REGISTRATION_ENTRY_STORE_H_
#define FAIRLEAD_REGISTRATION_ENTRY_STORE_H_

#include <functional>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "config/object.h"
#include "registration/decision.h"
#include "registration/entry.h"

namespace fairlead::registration {

// Where WorkloadEntries are kept and written, with the thread that works on them. Whatever ends on that
// thread needs no lock.
class EntryStore {
 public:
  using Work = std::function<void()>;
  using OnRead = std::function<void(absl::StatusOr<std::optional<Entry>>)>;  // nothing: there is none
  using OnWritten = std::function<void(absl::Status)>;
  virtual ~EntryStore() = default;  // as Stop()

  // Runs something on the store's thread, not before `at`; what was not run when it stops is not.
  // Thread-safe.
  virtual void Run(Work work, Clock::time_point at = {}) = 0;
  // Both end once, on the thread, perhaps before they return. To be called there. `name` has passed
  // CheckName.
  virtual void Read(const EntryName& name, OnRead done) = 0;
  // kCreate, kAnnotate, kSetConditions or kDelete, decided from the entry as it was `read` (null: none).
  // AlreadyExists, NotFound and Aborted where it is not that any more.
  virtual void Write(const EntryName& name, const Step& step, const Entry* read, OnWritten done) = 0;
  // Whether an entry that a source has is one that Write can change.
  virtual bool Keeps(const config::ConfigObject& entry) const = 0;
  // Nothing runs on the thread afterwards. Not on the thread.
  virtual void Stop() = 0;
};

}  // namespace fairlead::registration

#endif  // FAIRLEAD_REGISTRATION_ENTRY_STORE_H_
