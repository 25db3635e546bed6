#include "source/platform/platform_source.h"

#include <pthread.h>

#include <utility>

#include "base/files.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/thread.h"
#include "source/platform/kept_view.h"
#include "source/platform/source_metrics.h"

namespace fairlead::source {
namespace {

LogScope source_log("source");

constexpr int kWriterNiceness = 10;

int64_t UnixSeconds() { return std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()); }

absl::Status WriteView(const std::string& path, const std::string& text) {
  if (absl::Status status = CreatePrivateFolder(path.substr(0, path.rfind('/'))); !status.ok()) return status;
  return WritePrivateFile(path, text);
}

}  // namespace

PlatformSource::PlatformSource(Options options, std::unique_ptr<PlatformFollower> follower)
    : options_(std::move(options)),
      follower_(std::move(follower)),
      metrics_(std::make_unique<SourceMetrics>(options_.name)) {}

PlatformSource::~PlatformSource() { Stop(); }

std::string PlatformSource::Amount() const {
  std::lock_guard lock(mutex_);
  return StrCat(objects_, objects_ == 1 ? " object" : " objects", " of ", options_.name);
}

std::vector<std::string> PlatformSource::Awaited() const {
  std::lock_guard lock(mutex_);
  return awaited_;
}

absl::Status PlatformSource::Start(Sink* sink) {
  sink_ = sink;
  if (!options_.kept_file.empty()) writer_ = std::make_unique<Executor>("kept", 1, kWriterNiceness);
  auto thread = StartThread([this] {
    pthread_setname_np(pthread_self(), "platform");
    Run();
  });
  if (thread.ok()) thread_ = std::move(*thread);
  return thread.status();
}

void PlatformSource::Stop() {
  loop_.Stop();
  if (thread_.joinable()) thread_.join();
}

void PlatformSource::Run() {
  if (!options_.kept_file.empty()) loop_.At(Clock::now() + options_.patience, [this] { UseKept(); });
  follower_->Begin(&loop_, &view_);
  Flush();
  while (loop_.Turn()) Flush();
  follower_->End();
  if (writer_ == nullptr) return;
  writer_->Stop();
  if (view_.complete() && kept_revision_ != view_.parts_revision()) Write();
}

// The platform is away at the start: what it said to an earlier process is better than nothing.
void PlatformSource::UseKept() {
  if (view_.complete()) return;
  absl::StatusOr<KeptView> kept = ReadKeptView(options_.name, options_.kept_file);
  if (!kept.ok()) {
    if (!absl::IsNotFound(kept.status()))
      source_log.Warn("{}: {}: {}", options_.name, options_.kept_file, FromAbsl(kept.status().message()));
    return;
  }
  source_log.Warn("{} does not answer: its view of {} is in effect", options_.name,
                  config::UtcText(kept->time));
  view_.SetKept(std::move(kept->parts), kept->time);
  if (!std::exchange(synced_, true)) {
    sink_->OnChanges(view_.TakeChanges());
    sink_->OnSynced();
  }
}

// Before there is a whole view its parts are nobody's business.
void PlatformSource::Flush() {
  metrics_->Update(view_);
  NoteTrouble();
  const bool first = view_.complete() && !synced_;
  if (synced_ || first) {
    if (auto changes = view_.TakeChanges(); !changes.empty()) sink_->OnChanges(std::move(changes));
  }
  Tell();
  {
    std::lock_guard lock(mutex_);
    objects_ = view_.objects();
    awaited_ = synced_ || first ? std::vector<std::string>() : follower_->Awaited();
  }
  if (first) {
    synced_ = true;
    source_log.Info("{}: {}", options_.name, Amount());
    sink_->OnSynced();
  }
  Keep();
}

void PlatformSource::NoteTrouble() {
  std::string trouble = view_.Trouble();
  if (!trouble.empty() && trouble_.empty()) source_log.Warn("{} has no news: {}", options_.name, trouble);
  if (trouble.empty() && !trouble_.empty()) source_log.Info("{} has news again", options_.name);
  trouble_ = std::move(trouble);
}

void PlatformSource::Tell() {
  if (view_.revision() == told_revision_) return;
  told_revision_ = view_.revision();
  sink_->OnDiagnostics(view_.Diagnostics(options_.name));
}

void PlatformSource::Keep() {
  if (writer_ == nullptr || !view_.complete() || keeping_ || kept_revision_ == view_.parts_revision()) return;
  keeping_ = true;
  loop_.At(Clock::now() + options_.keep_after, [this] {
    keeping_ = false;
    kept_revision_ = view_.parts_revision();
    writer_->Submit(Urgency::kPatient,
                    [name = options_.name, path = options_.kept_file, parts = view_.parts()] {
                      const absl::Status status = WriteView(path, KeptViewText(name, UnixSeconds(), parts));
                      if (!status.ok())
                        source_log.Warn("{}: its view is not kept: {}", name, FromAbsl(status.message()));
                    });
  });
}

void PlatformSource::Write() {
  const absl::Status status =
      WriteView(options_.kept_file, KeptViewText(options_.name, UnixSeconds(), view_.parts()));
  if (!status.ok())
    source_log.Warn("{}: its view is not kept: {}", options_.name, FromAbsl(status.message()));
}

}  // namespace fairlead::source
