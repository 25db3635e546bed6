#ifndef FAIRLEAD_APP_REJECTION_WATCH_H_
#define FAIRLEAD_APP_REJECTION_WATCH_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/after_quiet.h"
#include "config/diagnostic.h"
#include "push/stream/rejections.h"
#include "source/source.h"
#include "state/mesh_objects.h"

namespace fairlead::app {

// Says what connected proxies reject, and which policies are not in force because of it, wherever mistakes
// are told: as diagnostics, in the log and the metrics, and in statuses. On a thread of its own, a moment
// after the last change, so that a rejection by all proxies is told once. Thread-safe.
class RejectionWatch {
 public:
  struct Options {
    std::function<state::MeshObjects()> objects;
    source::Sink* sink = nullptr;           // is told diagnostics
    std::function<void()> on_told = [] {};  // after each time
  };
  RejectionWatch();

  // Hears what proxies answer, from the beginning on.
  push::Rejections& rejections() { return rejections_; }
  void Start(Options options);
  // Objects may have moved in their files.
  void OnPublished();
  // As told last.
  std::vector<config::Diagnostic> Diagnostics() const;
  void Stop() { after_quiet_.Stop(); }

 private:
  void Tell();

  push::Rejections rejections_;
  Options options_;
  mutable std::mutex mutex_;
  std::vector<config::Diagnostic> told_;  // guarded by mutex_
  AfterQuiet after_quiet_;
};

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_REJECTION_WATCH_H_
