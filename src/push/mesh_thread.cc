#include "push/mesh_thread.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "base/thread.h"
#include "push/push_metrics.h"

namespace fairlead::push {
namespace {

LogScope push_log("push");

void CountInbound(const config::ObjectChange& change) {
  PushMetrics& metrics = Metrics();
  metrics.inbound_config.Add();
  switch (change.key.kind) {
    case config::Kind::kEndpointSlice:
      return metrics.inbound_endpoints.Add();
    case config::Kind::kService:
    case config::Kind::kServiceEntry:
      return (change.object == nullptr ? metrics.inbound_service_deletes : metrics.inbound_services).Add();
    default:
      return;
  }
}

// "VirtualService shop/reviews (routes.yaml:3), Service shop/web (gone) and 7 more"
std::string Subjects(const std::vector<config::ObjectChange>& changes) {
  constexpr size_t kNamed = 3;
  std::string text;
  for (size_t i = 0; i < std::min(changes.size(), kNamed); ++i) {
    const config::ConfigPtr& object = changes[i].object;
    StrAppend(&text, i == 0 ? "" : ", ", config::Describe(changes[i].key));
    if (object == nullptr) text.append(" (gone)");
    if (object != nullptr && !object->origin().file.empty())
      StrAppend(&text, " (", object->origin().file.str(), ":", object->origin().line, ")");
  }
  if (changes.size() > kNamed) StrAppend(&text, " and ", changes.size() - kNamed, " more");
  return text;
}

}  // namespace

class MeshThread::SourceSink : public source::Sink {
 public:
  SourceSink(MeshThread* owner, size_t number, std::string name)
      : owner_(owner), number_(number), name_(std::move(name)) {}
  void OnChanges(std::vector<config::ObjectChange> changes) override {
    owner_->OnChanges(number_, std::move(changes));
  }
  void Replace(config::Kind kind, std::vector<config::ConfigPtr> objects) override {
    owner_->Replace(number_, kind, objects);
  }
  void OnDiagnostics(std::vector<config::Diagnostic> diagnostics) override {
    owner_->OnDiagnostics(name_, std::move(diagnostics));
  }
  void Synced(config::Kind kind) override { owner_->Synced(name_, kind); }
  void OnSynced() override { owner_->OnSynced(name_); }

 private:
  MeshThread* const owner_;
  const size_t number_;
  const std::string name_;
};

MeshThread::MeshThread(MeshThreadOptions options, std::unique_ptr<MeshModel> model, Publish publish)
    : model_(std::move(model)),
      publish_(std::move(publish)),
      pending_(options.debounce, options.debounce_endpoints) {}

MeshThread::~MeshThread() { Stop(); }

source::Sink* MeshThread::AddSource(std::string name, std::set<config::Kind> kinds) {
  std::lock_guard lock(mutex_);
  unsynced_[name] = std::move(kinds);
  const size_t number = ownership_.AddSource(name);
  sinks_.push_back(std::make_unique<SourceSink>(this, number, std::move(name)));
  return sinks_.back().get();
}

void MeshThread::OnChanges(size_t source, std::vector<config::ObjectChange> changes) {
  for (const config::ObjectChange& change : changes) CountInbound(change);
  std::lock_guard lock(mutex_);
  const size_t revision = ownership_.revision();
  AddChanges(ownership_.Change(source, std::move(changes)));
  diagnostics_changed_ |= ownership_.revision() != revision;
}

void MeshThread::Replace(size_t source, config::Kind kind, const std::vector<config::ConfigPtr>& objects) {
  std::lock_guard lock(mutex_);
  const size_t revision = ownership_.revision();
  std::vector<config::ObjectChange> changes = ownership_.Replace(source, kind, objects);
  for (const config::ObjectChange& change : changes) CountInbound(change);
  AddChanges(std::move(changes));
  diagnostics_changed_ |= ownership_.revision() != revision;
}

// REQUIRES: mutex_ held.
void MeshThread::AddChanges(std::vector<config::ObjectChange> changes) {
  pending_.Add(std::move(changes), Clock::now());
  wake_.notify_one();
}

void MeshThread::OnDiagnostics(const std::string& source, std::vector<config::Diagnostic> diagnostics) {
  std::lock_guard lock(mutex_);
  diagnostics_[source] = std::move(diagnostics);
  diagnostics_changed_ = true;
  wake_.notify_one();
}

void MeshThread::Synced(const std::string& source, config::Kind kind) {
  std::lock_guard lock(mutex_);
  const auto awaited = unsynced_.find(source);
  if (awaited == unsynced_.end() || awaited->second.erase(kind) == 0 || !awaited->second.empty()) return;
  unsynced_.erase(awaited);
  wake_.notify_one();
}

void MeshThread::OnSynced(const std::string& source) {
  std::lock_guard lock(mutex_);
  unsynced_.erase(source);
  wake_.notify_one();
}

void MeshThread::SetSettings(model::SettingsPtr settings) {
  std::lock_guard lock(mutex_);
  pending_.SetSettings(std::move(settings), Clock::now());
  wake_.notify_one();
}

void MeshThread::SetKeySets(model::KeySetsPtr key_sets) {
  std::lock_guard lock(mutex_);
  pending_.SetKeySets(std::move(key_sets), Clock::now());
  wake_.notify_one();
}

void MeshThread::SetTrustBundle(model::TrustBundlePtr trust_bundle) {
  std::lock_guard lock(mutex_);
  pending_.SetTrustBundle(std::move(trust_bundle), Clock::now());
  wake_.notify_one();
}

void MeshThread::PushAll() {
  std::lock_guard lock(mutex_);
  pending_.PushAll(Clock::now());
  wake_.notify_one();
}

void MeshThread::Start() {
  thread_ = RequireThread([this] {
    pthread_setname_np(pthread_self(), "mesh");
    Run();
  });
}

void MeshThread::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

bool MeshThread::Ready() const {
  std::lock_guard lock(mutex_);
  return ready_;
}

std::vector<std::string> MeshThread::Unsynced() const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  names.reserve(unsynced_.size());
  for (const auto& [source, kinds] : unsynced_) names.push_back(source);
  return names;
}

// Waits until there is something to do; false: stop.
bool MeshThread::WaitForWork(std::unique_lock<std::mutex>& lock) {
  for (;;) {
    if (stopping_) return false;
    if (diagnostics_changed_) return true;
    const auto due = pending_.Due();
    if (unsynced_.empty()) {
      if (!ready_) return true;  // what existed at the start is no burst to wait for
      if (due && *due <= Clock::now()) return true;
    }
    if (due && unsynced_.empty()) {
      wake_.wait_until(lock, *due);
    } else {
      wake_.wait(lock);
    }
  }
}

void MeshThread::Run() {
  std::unique_lock lock(mutex_);
  while (WaitForWork(lock)) {
    const bool starting = unsynced_.empty() && !ready_;
    Publication publication;
    if (unsynced_.empty()) publication = pending_.Take(Clock::now(), starting);
    const bool log = std::exchange(diagnostics_changed_, false);
    lock.unlock();
    if (starting || !publication.empty()) Handle(std::move(publication));
    if (log) LogDiagnostics();
    lock.lock();
    if (starting) ready_ = true;
  }
}

void MeshThread::Handle(Publication publication) {
  const Clock::time_point start = Clock::now();
  std::vector<config::ObjectChange> changes;
  changes.reserve(publication.changes.size());
  for (auto& [key, change] : publication.changes) changes.push_back(std::move(change));
  Reasons reasons = publication.reasons;
  if (reasons.first == Clock::time_point{}) reasons.first = start;
  if (publication.key_sets != nullptr) model_->SetKeySets(std::move(publication.key_sets));
  if (publication.trust_bundle != nullptr) model_->SetTrustBundle(std::move(publication.trust_bundle));
  mesh::SnapshotPtr snapshot = model_->Update(changes, publication.settings, &reasons);
  const Clock::time_point built = Clock::now();
  Metrics().snapshot_time.Observe(Seconds(built - start));
  if (snapshot == nullptr && reasons.everything) snapshot = published_;
  if (snapshot == nullptr) {
    push_log.Debug("{} objects were read again and say the same", changes.size());
    return;
  }
  Metrics().debounce_time.Observe(Seconds(built - reasons.first));
  push_log.Info("publish revision:{} changes:{} reasons:{} build:{:.1f}ms since-first:{:.1f}ms{}{}",
                snapshot->revision, changes.size(), reasons.ToText(), Seconds(built - start) * 1e3,
                Seconds(built - reasons.first) * 1e3, changes.empty() ? "" : " for ", Subjects(changes));
  if (published_ == nullptr) LogDiagnostics();  // they are counted when serving begins
  published_ = snapshot;
  publish_(std::move(snapshot), reasons);
  LogDiagnostics();
}

void MeshThread::LogDiagnostics() {
  std::vector<config::Diagnostic> now = model_->Diagnostics();
  {
    std::lock_guard lock(mutex_);
    for (const auto& [source, list] : diagnostics_) now.insert(now.end(), list.begin(), list.end());
    for (auto& diagnostic : ownership_.Diagnostics()) now.push_back(std::move(diagnostic));
  }
  diagnostic_log_.Update(std::move(now));
}

}  // namespace fairlead::push
