#ifndef FAIRLEAD_CONTROLLERS_ROOT_WRITER_H_
#define FAIRLEAD_CONTROLLERS_ROOT_WRITER_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/interned.h"
#include "config/store.h"
#include "controllers/look_soon.h"
#include "kube/api_writer.h"
#include "model/settings.h"

namespace fairlead::controllers {

// Keeps a ConfigMap with the mesh's root certificates in each namespace that the mesh looks at, as long as
// this replica leads: made where it is missing, repaired where somebody edits it, changed with the roots.
// Other keys of it stay. What is right is not written.
// Source: Istio's pilot/pkg/serviceregistry/kube/controller/namespacecontroller.go
class RootWriter {
 public:
  // The cluster as it was last read.
  struct View {
    config::ObjectStore objects;
    model::MeshConfigPtr mesh;  // null: there is none yet
  };
  struct Options {
    std::string config_map = "istio-ca-root-cert";
    std::string only_namespace = {};                         // "": all of those that discoverySelectors name
    std::function<View()> view;                              // on the writer's thread
    std::function<bool()> leads;                             // any thread
    Clock::duration quiet = std::chrono::milliseconds(100);  // between a change and what is written of it
    size_t most_at_once = 8;
    std::chrono::milliseconds first_retry{1000}, most_retry{30'000};
  };
  // The writer must outlive it, or be stopped before it goes.
  RootWriter(Options options, kube::ApiWriter* writer);

  // The roots, in PEM, from now on. Nothing is written before. Thread-safe.
  void SetRoots(std::string roots);
  // Namespaces, ConfigMaps or settings may have changed. Thread-safe.
  void OnPublished() { soon_.Plan(); }
  // This replica leads from now on: all is looked at. Thread-safe.
  void OnLeading();

  // How often something was written so far.
  uint64_t written() const { return written_; }

 private:
  using Answer = kube::ApiAnswer;
  // What was last sent to a namespace. The watch brings it back a little later.
  struct Sent {
    std::string roots;
    std::string before;  // the version of the ConfigMap that was known then; "": there was none

    Clock::time_point at{};
    int failures = 0;  // in a row
  };

  void Look();
  bool IsUnchanged(const View& now, const std::string& roots) const;
  void Pump();
  bool Begin(const Interned& ns);
  void Send(const Interned& ns, bool create);
  void OnSent(const Interned& ns, const std::string& before, bool create, const std::string& roots,
              const Answer& answer);
  void Again(const Interned& ns, const Answer& answer);
  void AskLater(const Interned& ns, std::chrono::milliseconds pause);
  void End(const Interned& ns);
  config::ConfigPtr ConfigMapOf(const Interned& ns) const;

  const Options options_;
  kube::ApiWriter* const writer_;
  LookSoon soon_;
  std::atomic<bool> whole_{true};
  std::atomic<uint64_t> written_{0};
  std::mutex mutex_;
  std::string next_roots_;  // guarded by mutex_
  // What follows is of the writer's thread.
  std::string roots_;
  View view_;
  std::set<Interned> waiting_, running_;
  std::map<Interned, Sent> sent_;
};

}  // namespace fairlead::controllers

#endif  // FAIRLEAD_CONTROLLERS_ROOT_WRITER_H_
