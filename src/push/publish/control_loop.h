#ifndef FAIRLEAD_PUSH_PUBLISH_CONTROL_LOOP_H_
#define FAIRLEAD_PUSH_PUBLISH_CONTROL_LOOP_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "mesh/index/snapshot.h"
#include "model/facts.h"
#include "push/publish/diagnostic_log.h"
#include "push/publish/intake.h"
#include "push/publish/publication.h"
#include "push/stream/reason.h"
#include "source/source.h"
#include "state/derivation.h"
#include "state/mesh.h"

namespace fairlead::push {

// The control of a mesh, the live one as a rule, which it owns: what sources and others hand over waits for
// quiet (Intake), is applied to the mesh, and published; each observer is told, in their order. Nothing is
// published before every source has synced and there are settings. All on one thread; what is said here may
// be called from any.
class ControlLoop {
 public:
  // `derivations`: the steps of the mesh.
  explicit ControlLoop(IntakeOptions options,
                       std::vector<std::unique_ptr<state::Derivation>> derivations = {});
  // The same for a mesh that is there already, such as a fork of the live one: it is published at the start.
  // So a track beside the live one has a loop, and with it a debounce, sources and diagnostics, of its own.
  ControlLoop(IntakeOptions options, const state::Mesh& mesh);
  ~ControlLoop();  // as Stop()

  // REQUIRES: before Start.
  void AddObserver(PublicationObserver observer) { observers_.push_back(std::move(observer)); }
  // Is told, on the loop's thread, that objects were read again with the same content: their places in their
  // files may differ. Nothing is published then. REQUIRES: before Start.
  void AddPlaceObserver(std::function<void()> observer) { place_observers_.push_back(std::move(observer)); }
  // A sink for one more source; see Intake. REQUIRES: before Start.
  source::Sink* AddSource(std::string name, std::set<config::Kind> kinds = {}) {
    return intake_.AddSource(std::move(name), std::move(kinds));
  }
  // A fact as it is from now on (see model::Facts). Never null.
  template <typename Fact>
  void Set(std::shared_ptr<const Fact> fact) {
    model::Facts facts;
    facts.Set(std::move(fact));
    intake_.Add(facts);
  }
  void PushAll() { intake_.PushAll(); }
  void Start();
  void Stop();

  // Whether a first snapshot was published.
  bool Ready() const { return ready_; }
  // How often something was due: published, or found to change nothing.
  uint64_t rounds() const { return rounds_; }
  // What is wrong now.
  DiagnosticList Diagnostics() const { return diagnostics_.Current(); }
  std::vector<std::string> Unsynced() const { return intake_.Unsynced(); }
  // The objects of the mesh now.
  state::MeshObjects Objects() const;
  // A second mesh that is what the live one is now; changed apart from it. Waits for a change that is being
  // applied. Null before the first.
  std::unique_ptr<state::Mesh> Fork() const;

 private:
  void Run();
  void Handle(Pending pending);
  state::Mesh::Change Apply(const Pending& pending);
  void TellDiagnostics();

  Intake intake_;
  std::vector<PublicationObserver> observers_;
  std::vector<std::function<void()>> place_observers_;
  mutable std::mutex mesh_mutex_;  // of mesh_: held to change it, and by others than the loop to copy it
  state::Mesh mesh_;
  mutable std::mutex objects_mutex_;
  state::MeshObjects objects_;  // of mesh_; guarded by objects_mutex_
  DiagnosticLog diagnostics_;
  std::atomic<bool> ready_{false};
  std::atomic<uint64_t> rounds_{0};
  std::thread thread_;
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_PUBLISH_CONTROL_LOOP_H_
