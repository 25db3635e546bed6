#ifndef FAIRLEAD_PUSH_PUBLISH_INTAKE_H_
#define FAIRLEAD_PUSH_PUBLISH_INTAKE_H_

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/diagnostic_list.h"
#include "config/object.h"
#include "model/facts.h"
#include "push/publish/debounce.h"
#include "push/publish/pending_changes.h"
#include "source/ownership.h"
#include "source/source.h"

namespace fairlead::push {

struct IntakeOptions {
  DebounceOptions debounce;
  // Whether endpoint changes wait with the others (PILOT_ENABLE_EDS_DEBOUNCE).
  bool debounce_endpoints = false;
  PaceOptions pace = {};  // of those that don't
};

// Collects what sources and others say, the latest of each, until a burst is over. Nothing is due before
// every source has synced and the mesh's settings are known. Thread-safe; one thread calls Await.
class Intake {
 public:
  explicit Intake(IntakeOptions options);
  ~Intake();

  // A sink for one more source; valid as long as this. To be called before the first Await. Of two sources
  // that have one object the one added first wins. A source that announces kinds has synced when it has of
  // each.
  source::Sink* AddSource(std::string name, std::set<config::Kind> kinds);
  void Add(const model::Facts& facts);
  // Everything is published again, changed or not, and with it what does change (Istio's debug trigger).
  void PushAll();
  // The sources that have not synced yet.
  std::vector<std::string> Unsynced() const;

  struct Work {
    std::optional<Pending> pending;  // what is due, perhaps empty at the start; nothing: nothing is due
    std::map<std::string, config::DiagnosticList> diagnostics;  // by source; those that were told anew
  };
  // Waits until there is something to do. Nothing: stopped.
  std::optional<Work> Await();
  void Stop();

 private:
  class SourceSink;

  void OnChanges(size_t source, std::vector<config::ObjectChange> changes);
  void Replace(size_t source, config::Kind kind, const std::vector<config::ConfigPtr>& objects);
  void OnDiagnostics(const std::string& source, std::vector<config::Diagnostic> diagnostics);
  void Synced(const std::string& source, config::Kind kind);
  void OnSynced(const std::string& source);
  void AddChanges(std::vector<config::ObjectChange> changes, size_t revision, bool endpoints_alone);
  bool Complete() const;
  bool IsDue(Clock::time_point now) const;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  std::vector<std::unique_ptr<SourceSink>> sinks_;
  std::map<std::string, std::set<config::Kind>> unsynced_;  // by source the kinds that are awaited
  source::Ownership ownership_;
  PendingChanges pending_;
  std::map<std::string, config::DiagnosticList> diagnostics_;  // to be taken
  Clock::time_point awaited_ = Clock::time_point::max();       // until when Await sleeps
  bool has_settings_ = false, started_ = false, stopping_ = false;
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_PUBLISH_INTAKE_H_
