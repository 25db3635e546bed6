#include "push/publish/intake.h"

#include <utility>

#include "push/stream/push_metrics.h"

namespace fairlead::push {
namespace {

// The account of what several sources have.
constexpr char kOwnership[] = "sources";

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

config::DiagnosticList Listed(std::vector<config::Diagnostic> diagnostics) {
  return std::make_shared<const std::vector<config::Diagnostic>>(std::move(diagnostics));
}

}  // namespace

class Intake::SourceSink : public source::Sink {
 public:
  SourceSink(Intake* owner, size_t number, std::string name)
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
  Intake* const owner_;
  const size_t number_;
  const std::string name_;
};

Intake::Intake(IntakeOptions options)
    : pending_(options.debounce, options.debounce_endpoints, options.pace) {}

Intake::~Intake() = default;

source::Sink* Intake::AddSource(std::string name, std::set<config::Kind> kinds) {
  std::lock_guard lock(mutex_);
  unsynced_[name] = std::move(kinds);
  const size_t number = ownership_.AddSource(name);
  sinks_.push_back(std::make_unique<SourceSink>(this, number, std::move(name)));
  return sinks_.back().get();
}

void Intake::OnChanges(size_t source, std::vector<config::ObjectChange> changes) {
  for (const config::ObjectChange& change : changes) CountInbound(change);
  std::lock_guard lock(mutex_);
  const size_t revision = ownership_.revision();
  const bool endpoints_alone = ownership_.ChangesEndpointsAlone(source, changes);
  AddChanges(ownership_.Change(source, std::move(changes)), revision, endpoints_alone);
}

void Intake::Replace(size_t source, config::Kind kind, const std::vector<config::ConfigPtr>& objects) {
  std::lock_guard lock(mutex_);
  const size_t revision = ownership_.revision();
  std::vector<config::ObjectChange> changes = ownership_.Replace(source, kind, objects);
  for (const config::ObjectChange& change : changes) CountInbound(change);
  AddChanges(std::move(changes), revision, false);
}

// `revision`: of the ownership before. REQUIRES: mutex_ held.
void Intake::AddChanges(std::vector<config::ObjectChange> changes, size_t revision, bool endpoints_alone) {
  pending_.Add(std::move(changes), Clock::now(), endpoints_alone);
  const bool contested = ownership_.revision() != revision;
  if (contested) diagnostics_[kOwnership] = nullptr;  // made when it is taken
  const auto due = Complete() ? pending_.Due() : std::nullopt;
  // In a storm most changes make nothing due earlier: nobody is woken for each.
  if (contested || (due && *due < awaited_)) wake_.notify_one();
}

void Intake::OnDiagnostics(const std::string& source, std::vector<config::Diagnostic> diagnostics) {
  std::lock_guard lock(mutex_);
  diagnostics_[source] = Listed(std::move(diagnostics));
  wake_.notify_one();
}

void Intake::Synced(const std::string& source, config::Kind kind) {
  std::lock_guard lock(mutex_);
  const auto awaited = unsynced_.find(source);
  if (awaited == unsynced_.end() || awaited->second.erase(kind) == 0 || !awaited->second.empty()) return;
  unsynced_.erase(awaited);
  wake_.notify_one();
}

void Intake::OnSynced(const std::string& source) {
  std::lock_guard lock(mutex_);
  unsynced_.erase(source);
  wake_.notify_one();
}

void Intake::Add(const model::Facts& facts) {
  std::lock_guard lock(mutex_);
  pending_.Add(facts, Clock::now());
  has_settings_ |= facts.Get<model::Settings>() != nullptr;
  wake_.notify_one();
}

void Intake::PushAll() {
  std::lock_guard lock(mutex_);
  pending_.PushAll(Clock::now());
  wake_.notify_one();
}

std::vector<std::string> Intake::Unsynced() const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  names.reserve(unsynced_.size());
  for (const auto& [source, kinds] : unsynced_) names.push_back(source);
  return names;
}

void Intake::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
}

// Whether a mesh can be made. REQUIRES: mutex_ held.
bool Intake::Complete() const { return unsynced_.empty() && has_settings_; }

// What exists at the start is no burst to wait for. REQUIRES: mutex_ held.
bool Intake::IsDue(Clock::time_point now) const {
  if (!Complete()) return false;
  const auto due = pending_.Due();
  return !started_ || (due && *due <= now);
}

std::optional<Intake::Work> Intake::Await() {
  std::unique_lock lock(mutex_);
  while (!stopping_ && diagnostics_.empty() && !IsDue(Clock::now())) {
    const auto due = Complete() ? pending_.Due() : std::nullopt;
    awaited_ = due.value_or(Clock::time_point::max());
    if (due) {
      wake_.wait_until(lock, *due);
    } else {
      wake_.wait(lock);
    }
  }
  awaited_ = Clock::time_point::max();
  if (stopping_) return std::nullopt;
  Work work;
  const Clock::time_point now = Clock::now();
  if (IsDue(now)) work.pending = pending_.Take(now, !std::exchange(started_, true));
  work.diagnostics = std::exchange(diagnostics_, {});
  if (const auto own = work.diagnostics.find(kOwnership); own != work.diagnostics.end())
    own->second = Listed(ownership_.Diagnostics());
  return work;
}

}  // namespace fairlead::push
