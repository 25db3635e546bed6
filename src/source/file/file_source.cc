#include "source/file/file_source.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "base/metrics.h"
#include "base/strings.h"
#include "base/thread.h"
#include "config/manifests.h"
#include "source/file/read_file.h"

namespace fairlead::source {
namespace {

int ThreadCount(int wanted) {
  const int processors = static_cast<int>(std::thread::hardware_concurrency());
  return wanted > 0 ? wanted : std::clamp(processors, 1, 8);
}

WatchOptions WatchOf(const FileSource::Options& options) {
  WatchOptions watch = options.watch;
  watch.folder = options.folder;
  watch.recursive = true;
  watch.wants = IsManifestName;
  return watch;
}

absl::StatusOr<config::ParseResult> ParseFile(const std::string& path) {
  absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  return config::ParseManifests(*text, path);
}

using Parsed = std::vector<std::optional<absl::StatusOr<config::ParseResult>>>;

// Parses the files that are not gone; results are in the order of the changes. Threads take one file after
// another; there are fewer where the system has no more to give.
Parsed ParseAll(const std::vector<FileChange>& changes, int threads) {
  Parsed results(changes.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < changes.size(); i = next++) {
      if (changes[i].kind != FileChange::Kind::kGone) results[i] = ParseFile(changes[i].path);
    }
  };
  std::vector<std::thread> helpers;
  for (size_t i = 1; i < std::min<size_t>(static_cast<size_t>(threads), changes.size()); ++i) {
    if (auto helper = StartThread(work); helper.ok()) helpers.push_back(*std::move(helper));
  }
  work();
  for (std::thread& helper : helpers) helper.join();
  return results;
}

config::Diagnostic ToDiagnostic(const PathProblem& problem) {
  config::Diagnostic diagnostic;
  diagnostic.severity = problem.warning ? config::Severity::kWarning : config::Severity::kError;
  diagnostic.code = "unreadable-folder";
  diagnostic.file = problem.path;
  diagnostic.message = problem.message;
  return diagnostic;
}

// Under the names of istiod's webhook, whose checks they are.
void CountValidated(const config::ParseResult& result) {
  static metrics::Counter& passed =
      metrics::GetCounter("galley_validation_passed", "Objects that were read and are valid.");
  static metrics::Counter& failed =
      metrics::GetCounter("galley_validation_failed", "Objects that were read and are refused.");
  passed.Add(static_cast<double>(result.objects.size()));
  failed.Add(static_cast<double>(result.broken.size()));
}

}  // namespace

bool IsManifestName(std::string_view name) {
  return !name.starts_with('.') &&
         (name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json"));
}

FileSource::FileSource(Options options) : options_(std::move(options)) {}

FileSource::~FileSource() { Stop(); }

std::string FileSource::Name() const { return StrCat("files of ", options_.folder); }

std::string FileSource::Amount() const {
  const size_t files = files_;
  return StrCat(files, files == 1 ? " file" : " files");
}

absl::Status FileSource::Start(Sink* sink) {
  sink_ = sink;
  watcher_ = std::make_unique<FolderWatcher>(WatchOf(options_));
  if (const absl::Status status = watcher_->Open(); !status.ok()) return status;
  auto thread = StartThread([this] { Run(); });
  if (thread.ok()) thread_ = *std::move(thread);
  return thread.status();
}

void FileSource::Stop() {
  if (!thread_.joinable()) return;
  watcher_->Stop();
  thread_.join();
}

void FileSource::Run() {
  for (;;) {
    const FolderChanges changes = watcher_->Next();
    if (changes.stopped) return;
    Take(changes.files);
    Tell(changes.problems);
  }
}

void FileSource::Take(const std::vector<FileChange>& changes) {
  Parsed parsed = ParseAll(changes, ThreadCount(options_.threads));
  for (size_t i = 0; i < changes.size(); ++i) {
    const auto& [kind, path] = changes[i];
    if (!parsed[i]) {
      catalog_.Remove(path);
    } else if (parsed[i]->ok()) {
      CountValidated(**parsed[i]);
      const bool unfinished = kind == FileChange::Kind::kUnfinished || watcher_->ChangedSince(path);
      catalog_.Put(path, std::move(**parsed[i]), unfinished);
    } else if (!watcher_->ChangedSince(path)) {
      catalog_.SetUnreadable(path, std::string(FromAbsl(parsed[i]->status().message())));
    }
  }
}

void FileSource::Tell(const std::vector<PathProblem>& problems) {
  files_ = catalog_.files();
  if (std::vector<config::ObjectChange> changes = catalog_.TakeChanges(); !changes.empty()) {
    sink_->OnChanges(std::move(changes));
  }
  std::vector<config::Diagnostic> diagnostics;
  for (const PathProblem& problem : problems) diagnostics.push_back(ToDiagnostic(problem));
  for (config::Diagnostic& diagnostic : catalog_.Diagnostics()) diagnostics.push_back(std::move(diagnostic));
  std::vector<std::string> texts;
  for (const config::Diagnostic& diagnostic : diagnostics) texts.push_back(ToText(diagnostic));
  if (texts != told_diagnostics_ || !synced_) {
    told_diagnostics_ = std::move(texts);
    sink_->OnDiagnostics(std::move(diagnostics));
  }
  if (!std::exchange(synced_, true)) sink_->OnSynced();
}

}  // namespace fairlead::source
