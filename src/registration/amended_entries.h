#ifndef FAIRLEAD_REGISTRATION_AMENDED_ENTRIES_H_
#define FAIRLEAD_REGISTRATION_AMENDED_ENTRIES_H_

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/labels.h"
#include "config/object.h"
#include "registration/entry.h"
#include "registration/entry_store.h"
#include "source/source.h"

namespace fairlead::registration {

// The WorkloadEntries that sources have, where nothing can be written back to them: what would be is added on
// the way to the mesh, and is gone with the process. Thread-safe.
class AmendedEntries {
 public:
  // A sink in front of another one, for one source; this and `next` must outlive it.
  std::unique_ptr<source::Sink> Tap(source::Sink* next);

  // An entry as the mesh has it; null where no source has one of the name.
  std::optional<Entry> Find(const EntryName& name) const;
  // Annotations and conditions of it from now on. NotFound where there is none.
  absl::Status Amend(const EntryName& name, const Step& step);

 private:
  class TapSink;
  struct Amendment {
    LabelMap set;
    std::vector<std::string> removed;
    std::optional<std::vector<Condition>> conditions;  // nothing: those of the source's object
  };
  struct Source {
    source::Sink* next;
    std::map<EntryName, config::ConfigPtr> entries;  // as the source has them
  };
  // The functions below: REQUIRES: mutex_ held.
  Source* Holder(const EntryName& name);
  config::ConfigPtr Amended(const config::ConfigPtr& object) const;
  void Note(Source* source, const config::ObjectKey& key, const config::ConfigPtr& object);

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Source>> sources_;  // guarded by mutex_
  std::map<EntryName, Amendment> amendments_;     // likewise
};

// The fields of an object that registration reads.
Entry EntryOf(const config::ConfigObject& object);

// The status of an object as the mesh reads it.
std::shared_ptr<const config::ObjectStatus> StatusOf(const std::vector<Condition>& conditions);

}  // namespace fairlead::registration

#endif  // FAIRLEAD_REGISTRATION_AMENDED_ENTRIES_H_
