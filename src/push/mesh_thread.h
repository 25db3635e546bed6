#ifndef FAIRLEAD_PUSH_MESH_THREAD_H_
#define FAIRLEAD_PUSH_MESH_THREAD_H_

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "config/diagnostic.h"
#include "config/object.h"
#include "mesh/snapshot.h"
#include "model/key_sets.h"
#include "model/settings.h"
#include "model/trust_bundle.h"
#include "push/debounce.h"
#include "push/diagnostic_log.h"
#include "push/pending_changes.h"
#include "push/reason.h"
#include "source/ownership.h"
#include "source/source.h"

namespace fairlead::push {

// What turns objects into snapshots; owned and used by the mesh thread alone.
class MeshModel {
 public:
  virtual ~MeshModel() = default;
  // Applies the changes and builds the next snapshot. `changed` counts what really changed, settings too: a
  // re-read object that says the same is no change. Null where nothing changed at all. `settings` is null
  // where they did not change.
  virtual mesh::SnapshotPtr Update(std::span<const config::ObjectChange> changes,
                                   const model::SettingsPtr& settings, Reasons* changed) = 0;
  // The key sets that are known: part of the next Update.
  virtual void SetKeySets(model::KeySetsPtr /*key_sets*/) {}              // NOLINT: an override keeps it
  virtual void SetTrustBundle(model::TrustBundlePtr /*trust_bundle*/) {}  // NOLINT: an override keeps it
  // Problems that come to light when objects meet, as they are now.
  virtual std::vector<config::Diagnostic> Diagnostics() const = 0;
};

struct MeshThreadOptions {
  DebounceOptions debounce;
  // Whether endpoint changes wait with the others (PILOT_ENABLE_EDS_DEBOUNCE).
  bool debounce_endpoints = false;
};

// The one writer: collects what the sources say (latest per object), waits until a burst is over, has the
// model build a snapshot and publishes it. Nothing is published before every source has synced.
class MeshThread {
 public:
  using Publish = std::function<void(mesh::SnapshotPtr, const Reasons&)>;
  // `publish` is called on the mesh thread.
  MeshThread(MeshThreadOptions options, std::unique_ptr<MeshModel> model, Publish publish);
  ~MeshThread();

  // A sink for one more source; valid as long as this. To be called before Start. Of two sources that have
  // one object the one added first wins. A source that announces kinds has synced when it has of each.
  source::Sink* AddSource(std::string name, std::set<config::Kind> kinds = {});
  // Mesh settings: needed once before anything is published, later whenever they change. Thread-safe.
  void SetSettings(model::SettingsPtr settings);
  // The key sets that RequestAuthentications refer to, whenever what is known of them changes. Never null.
  // Thread-safe.
  void SetKeySets(model::KeySetsPtr key_sets);
  void SetTrustBundle(model::TrustBundlePtr trust_bundle);
  // Everything is published again, changed or not, and with it what does change (Istio's debug trigger).
  // Thread-safe.
  void PushAll();
  void Start();
  void Stop();
  // Whether every source has synced and a first snapshot was published. Thread-safe.
  bool Ready() const;
  // What is wrong now. Thread-safe.
  DiagnosticList Diagnostics() const { return diagnostic_log_.Current(); }
  // The sources that have not synced yet. Thread-safe.
  std::vector<std::string> Unsynced() const;

 private:
  class SourceSink;

  void OnChanges(size_t source, std::vector<config::ObjectChange> changes);
  void Replace(size_t source, config::Kind kind, const std::vector<config::ConfigPtr>& objects);
  void AddChanges(std::vector<config::ObjectChange> changes);
  void OnDiagnostics(const std::string& source, std::vector<config::Diagnostic> diagnostics);
  void Synced(const std::string& source, config::Kind kind);
  void OnSynced(const std::string& source);
  void Run();
  bool WaitForWork(std::unique_lock<std::mutex>& lock);
  void Handle(Publication publication);
  void LogDiagnostics();

  const std::unique_ptr<MeshModel> model_;
  const Publish publish_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::unique_ptr<SourceSink>> sinks_;
  std::map<std::string, std::set<config::Kind>> unsynced_;  // by source the kinds that are awaited
  source::Ownership ownership_;
  std::map<std::string, std::vector<config::Diagnostic>> diagnostics_;  // by source
  bool diagnostics_changed_ = false;
  PendingChanges pending_;
  bool ready_ = false, stopping_ = false;
  std::thread thread_;

  mesh::SnapshotPtr published_;   // the last one; mesh thread only
  DiagnosticLog diagnostic_log_;  // updated by the mesh thread
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_MESH_THREAD_H_
