#include "push/publish/control_loop.h"

#include <pthread.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/log.h"
#include "base/strings.h"
#include "base/thread.h"
#include "push/publish/change_reasons.h"
#include "push/stream/push_metrics.h"

namespace fairlead::push {
namespace {

LogScope push_log("push");

// "VirtualService shop/reviews (routes.yaml:3), Service shop/web (gone) and 7 more"
std::string Subjects(const std::map<config::ObjectKey, config::ObjectChange>& changes) {
  constexpr size_t kNamed = 3;
  std::string text;
  size_t named = 0;
  for (const auto& [key, change] : changes) {
    if (named == kNamed) break;
    const config::ConfigPtr& object = change.object;
    StrAppend(&text, named++ == 0 ? "" : ", ", config::Describe(key));
    if (object == nullptr) text.append(" (gone)");
    if (object != nullptr && !object->origin().file.empty())
      StrAppend(&text, " (", object->origin().file.str(), ":", object->origin().line, ")");
  }
  if (changes.size() > kNamed) StrAppend(&text, " and ", changes.size() - kNamed, " more");
  return text;
}

void CountObjects(const state::Mesh& mesh) {
  Metrics().services.Set(static_cast<double>(mesh.snapshot()->services->All().size()));
  Metrics().virtual_services.Set(
      static_cast<double>(mesh.written().All(config::Kind::kVirtualService).size()));
}

}  // namespace

ControlLoop::ControlLoop(IntakeOptions options, std::vector<std::unique_ptr<state::Derivation>> derivations)
    : intake_(options), mesh_(std::move(derivations)) {}

ControlLoop::ControlLoop(IntakeOptions options, const state::Mesh& mesh)
    : intake_(options), mesh_(mesh), objects_(mesh.now()) {
  if (mesh.settings() != nullptr) Set(mesh.settings());
}

ControlLoop::~ControlLoop() { Stop(); }

void ControlLoop::Start() {
  thread_ = RequireThread([this] {
    pthread_setname_np(pthread_self(), "mesh");
    Run();
  });
}

void ControlLoop::Stop() {
  intake_.Stop();
  if (thread_.joinable()) thread_.join();
}

void ControlLoop::Run() {
  while (auto work = intake_.Await()) {
    for (auto& [source, list] : work->diagnostics)
      diagnostics_.Set(StrCat("source ", source), std::move(list));
    if (work->pending) {
      Handle(*std::move(work->pending));
      ++rounds_;
    } else {
      diagnostics_.Tell();
    }
  }
}

// Applies and publishes what is due.
void ControlLoop::Handle(Pending pending) {
  const Clock::time_point start = Clock::now();
  if (pending.reasons.first == Clock::time_point{}) pending.reasons.first = start;
  const mesh::SnapshotPtr before = mesh_.snapshot();
  const state::Mesh::Change change = Apply(pending);
  TellDiagnostics();
  const Clock::time_point built = Clock::now();
  Metrics().snapshot_time.Observe(Seconds(built - start));
  if (change.snapshot == nullptr && !pending.reasons.everything && ready_) {
    push_log.Debug("{} objects were read again and say the same", pending.changes.size());
    for (const auto& observer : place_observers_) observer();
    return;
  }
  const mesh::SnapshotPtr snapshot = mesh_.snapshot();
  AddReasons(change.objects, before.get(), *snapshot, &pending.reasons);
  CountObjects(mesh_);
  Metrics().debounce_time.Observe(Seconds(built - pending.reasons.first));
  push_log.Info("publish revision:{} changes:{} reasons:{} build:{:.1f}ms since-first:{:.1f}ms{}{}",
                snapshot->revision, pending.changes.size(), pending.reasons.ToText(),
                Seconds(built - start) * 1e3, Seconds(built - pending.reasons.first) * 1e3,
                pending.changes.empty() ? "" : " for ", Subjects(pending.changes));
  const Publication publication{mesh_, snapshot, change.objects, pending.reasons};
  for (const PublicationObserver& observer : observers_) observer(publication);
  ready_ = true;
}

state::Mesh::Change ControlLoop::Apply(const Pending& pending) {
  std::vector<config::ObjectChange> changes;
  changes.reserve(pending.changes.size());
  for (const auto& [key, change] : pending.changes) changes.push_back(change);
  state::Mesh::Change change;
  {
    std::lock_guard lock(mesh_mutex_);
    change = mesh_.Apply(changes, pending.facts);
  }
  std::lock_guard lock(objects_mutex_);
  objects_ = mesh_.now();
  return change;
}

// Costs what differs from the last time.
void ControlLoop::TellDiagnostics() {
  const std::vector<config::DiagnosticList>& lists = mesh_.diagnostic_lists();
  for (size_t i = 0; i < lists.size(); ++i) diagnostics_.Set(StrCat("mesh ", i), lists[i]);
  diagnostics_.Tell();
}

state::MeshObjects ControlLoop::Objects() const {
  std::lock_guard lock(objects_mutex_);
  return objects_;
}

std::unique_ptr<state::Mesh> ControlLoop::Fork() const {
  std::lock_guard lock(mesh_mutex_);
  return mesh_.snapshot() == nullptr ? nullptr : std::make_unique<state::Mesh>(mesh_);
}

}  // namespace fairlead::push
