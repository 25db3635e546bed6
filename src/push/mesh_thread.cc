#include "push/mesh_thread.h"

#include <pthread.h>

#include <utility>

#include "base/log.h"
#include "base/thread.h"
#include "push/push_metrics.h"

namespace fairlead::push {
namespace {

LogScope config_log("config");
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

}  // namespace

class MeshThread::SourceSink : public source::Sink {
 public:
  SourceSink(MeshThread* owner, std::string name) : owner_(owner), name_(std::move(name)) {}
  void OnChanges(std::vector<config::ObjectChange> changes) override {
    owner_->OnChanges(std::move(changes));
  }
  void OnDiagnostics(std::vector<config::Diagnostic> diagnostics) override {
    owner_->OnDiagnostics(name_, std::move(diagnostics));
  }
  void OnSynced() override { owner_->OnSynced(name_); }

 private:
  MeshThread* const owner_;
  const std::string name_;
};

MeshThread::MeshThread(MeshThreadOptions options, std::unique_ptr<MeshModel> model, Publish publish)
    : options_(options),
      model_(std::move(model)),
      publish_(std::move(publish)),
      debounce_(options.debounce) {}

MeshThread::~MeshThread() { Stop(); }

source::Sink* MeshThread::AddSource(std::string name) {
  std::lock_guard lock(mutex_);
  unsynced_.insert(name);
  sinks_.push_back(std::make_unique<SourceSink>(this, std::move(name)));
  return sinks_.back().get();
}

void MeshThread::OnChanges(std::vector<config::ObjectChange> changes) {
  if (changes.empty()) return;
  for (const config::ObjectChange& change : changes) CountInbound(change);
  std::lock_guard lock(mutex_);
  const Clock::time_point now = Clock::now();
  for (config::ObjectChange& change : changes) {
    const bool waits = options_.debounce_endpoints || change.key.kind != config::Kind::kEndpointSlice;
    if (waits) debounce_.OnChange(now);
    Batch& batch = waits ? pending_ : pending_endpoints_;
    if (batch.empty()) batch.reasons.first = now;
    const config::ObjectKey key = change.key;
    batch.changes.insert_or_assign(key, std::move(change));
  }
  wake_.notify_one();
}

void MeshThread::OnDiagnostics(const std::string& source, std::vector<config::Diagnostic> diagnostics) {
  std::lock_guard lock(mutex_);
  diagnostics_[source] = std::move(diagnostics);
  diagnostics_changed_ = true;
  wake_.notify_one();
}

void MeshThread::OnSynced(const std::string& source) {
  std::lock_guard lock(mutex_);
  unsynced_.erase(source);
  wake_.notify_one();
}

void MeshThread::SetSettings(model::SettingsPtr settings) {
  std::lock_guard lock(mutex_);
  const Clock::time_point now = Clock::now();
  debounce_.OnChange(now);
  if (pending_.empty()) pending_.reasons.first = now;
  pending_.settings = std::move(settings);
  wake_.notify_one();
}

void MeshThread::PushAll() {
  std::lock_guard lock(mutex_);
  const Clock::time_point now = Clock::now();
  debounce_.OnChange(now);
  if (pending_.empty()) pending_.reasons.first = now;
  pending_.reasons.everything = true;
  pending_.reasons.Add(Reason::kDebug);
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
  return {unsynced_.begin(), unsynced_.end()};
}

// Waits until there is something to do; false: stop.
bool MeshThread::WaitForWork(std::unique_lock<std::mutex>& lock) {
  for (;;) {
    if (stopping_) return false;
    if (diagnostics_changed_) return true;
    const auto due = debounce_.Due();
    if (unsynced_.empty()) {
      if (!ready_ || !pending_endpoints_.empty())
        return true;  // what existed at the start is no burst to wait for
      if (due && *due <= Clock::now()) return true;
    }
    if (due && unsynced_.empty()) {
      wake_.wait_until(lock, *due);
    } else {
      wake_.wait(lock);
    }
  }
}

// REQUIRES: mutex_ held.
MeshThread::Batch MeshThread::TakeDue() {
  if (!unsynced_.empty()) return {};
  Batch batch = std::exchange(pending_endpoints_, {});
  const auto due = debounce_.Due();
  if (!due || (ready_ && *due > Clock::now())) return batch;
  const Clock::time_point first = debounce_.Take();
  Batch waited = std::exchange(pending_, {});
  waited.reasons.first = batch.empty() ? first : std::min(first, batch.reasons.first);
  waited.changes.merge(batch.changes);  // the kinds of the two are disjoint
  return waited;
}

void MeshThread::Run() {
  std::unique_lock lock(mutex_);
  while (WaitForWork(lock)) {
    const bool starting = unsynced_.empty() && !ready_;
    Batch batch = TakeDue();
    const bool log = std::exchange(diagnostics_changed_, false);
    lock.unlock();
    if (starting || !batch.empty()) Handle(std::move(batch));
    if (log) LogDiagnostics();
    lock.lock();
    if (starting) ready_ = true;
  }
}

void MeshThread::Handle(Batch batch) {
  const Clock::time_point start = Clock::now();
  std::vector<config::ObjectChange> changes;
  changes.reserve(batch.changes.size());
  for (auto& [key, change] : batch.changes) changes.push_back(std::move(change));
  Reasons reasons = batch.reasons;
  if (reasons.first == Clock::time_point{}) reasons.first = start;
  mesh::SnapshotPtr snapshot = model_->Update(changes, batch.settings, &reasons);
  const Clock::time_point built = Clock::now();
  Metrics().snapshot_time.Observe(Seconds(built - start));
  if (snapshot == nullptr && reasons.everything) snapshot = published_;
  if (snapshot == nullptr) {
    push_log.Debug("{} objects were read again and say the same", changes.size());
    return;
  }
  Metrics().debounce_time.Observe(Seconds(built - reasons.first));
  push_log.Info("publish revision:{} changes:{} reasons:{} build:{:.1f}ms since-first:{:.1f}ms",
                snapshot->revision, changes.size(), reasons.ToText(), Seconds(built - start) * 1e3,
                Seconds(built - reasons.first) * 1e3);
  published_ = snapshot;
  publish_(std::move(snapshot), reasons);
  LogDiagnostics();
}

// Each problem once when it comes up, and once when it is gone.
void MeshThread::LogDiagnostics() {
  std::map<std::string, config::Severity> now;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [source, list] : diagnostics_) {
      for (const auto& diagnostic : list) now.emplace(config::ToText(diagnostic), diagnostic.severity);
    }
  }
  for (const auto& diagnostic : model_->Diagnostics())
    now.emplace(config::ToText(diagnostic), diagnostic.severity);
  for (const auto& [text, severity] : now) {
    if (logged_.contains(text)) continue;
    severity == config::Severity::kError ? config_log.Error("{}", text) : config_log.Warn("{}", text);
  }
  for (const std::string& text : logged_) {
    if (!now.contains(text)) config_log.Info("no longer: {}", text);
  }
  logged_.clear();
  for (const auto& [text, severity] : now) logged_.insert(text);
}

}  // namespace fairlead::push
