#include "source/file/file_source.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "base/metrics.h"
#include "base/strings.h"
#include "base/thread.h"
#include "config/read/manifests.h"
#include "config/read/no_effect.h"
#include "source/file/parsed_file.h"

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

config::Diagnostic ToDiagnostic(const PathProblem& problem) {
  config::Diagnostic diagnostic;
  diagnostic.severity = problem.warning ? config::Severity::kWarning : config::Severity::kError;
  diagnostic.code = "unreadable-folder";
  diagnostic.file = problem.path;
  diagnostic.message = problem.message;
  return diagnostic;
}

// Those that objects of these kinds have no effect.
void DropRemarksOn(const std::vector<config::Kind>& kinds, std::vector<config::Diagnostic>* diagnostics) {
  std::erase_if(*diagnostics, [&kinds](const config::Diagnostic& one) {
    return one.code == config::kNoEffectCode && one.object &&
           std::find(kinds.begin(), kinds.end(), one.object->kind) != kinds.end();
  });
}

metrics::Gauge& NotActedOn() {
  static metrics::Gauge& gauge = metrics::GetGauge(
      "fairlead_objects_not_acted_on",
      "Objects that are accepted and not acted on, or not all of their fields, by this version.");
  return gauge;
}

size_t ObjectsWithoutEffect(const std::vector<config::Diagnostic>& diagnostics) {
  std::set<config::ObjectKey> objects;
  for (const config::Diagnostic& one : diagnostics) {
    if (one.code == config::kNoEffectCode && one.object) objects.insert(*one.object);
  }
  return objects.size();
}

metrics::Gauge& StaleObjects() {
  static metrics::Gauge& gauge =
      metrics::GetGauge("fairlead_stale_objects",
                        "Objects of which an earlier version is served, as the file has mistakes now.");
  return gauge;
}

metrics::Gauge& UnreadablePolicies() {
  static metrics::Gauge& gauge = metrics::GetGauge(
      "fairlead_unreadable_policies",
      "Policies of security.istio.io that cannot be read now and have no earlier version: none is in force.");
  return gauge;
}

// Nothing but comments.
bool HoldsNothing(const absl::StatusOr<ParsedFile>& file) { return file.ok() && file->result.empty; }

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
  if (absl::Status status = watcher_->Open(); !status.ok()) return status;
  auto thread = StartThread([this] { Run(); });
  if (thread.ok()) thread_ = std::move(*thread);
  return thread.status();
}

void FileSource::Stop() {
  if (!thread_.joinable()) return;
  watcher_->Stop();
  thread_.join();
}

void FileSource::Run() {
  for (;;) {
    const FolderChanges changes = watcher_->Next(refilled_at_);
    if (changes.stopped) return;
    if (changes.timed_out) {
      LetGo();
      Tell(told_problems_);
      continue;
    }
    Take(changes.files);
    Tell(changes.problems);
  }
}

void FileSource::Take(const std::vector<FileChange>& changes) {
  ParsedFiles parsed = ParseAll(changes, ThreadCount(options_.threads), options_.kept);
  if (options_.on_emptied == Options::OnEmptied::kKeep) Guard(changes, parsed);
  for (size_t i = 0; i < changes.size(); ++i) {
    const std::string& path = changes[i].path;
    if (emptied_ && (!parsed[i] || HoldsNothing(*parsed[i]))) {
      passed_over_.insert(path);
    } else if (parsed[i]) {
      Put(changes[i], *parsed[i]);
    } else {
      Remove(path);
    }
  }
}

// Whether there is anything in the folder, the changes applied: a manifest, or a file that may be one.
bool FileSource::IsAnythingLeft(const std::vector<FileChange>& changes, const ParsedFiles& parsed) const {
  std::set<std::string_view> changed;
  for (size_t i = 0; i < changes.size(); ++i) {
    if (parsed[i] && !HoldsNothing(*parsed[i])) return true;
    changed.insert(changes[i].path);
  }
  const std::vector<std::string> paths = catalog_.Paths();
  return std::any_of(paths.begin(), paths.end(), [&](const std::string& path) {
    FileInfo info;
    return !changed.contains(path) && !passed_over_.contains(path) && StatFile(path, &info);
  });
}

// Notes whether all that the folder held goes at once, or went and comes back.
void FileSource::Guard(const std::vector<FileChange>& changes, const ParsedFiles& parsed) {
  const bool left = IsAnythingLeft(changes, parsed);
  if (!synced_ && !left) RestoreAll();
  if (!left && catalog_.versions() > 0) {
    emptied_ = true;
    refilled_at_ = Clock::time_point::max();
  } else if (emptied_ && left) {
    refilled_at_ = Clock::now() + options_.refilled_after;
  }
}

// The folder has manifests again: what of before is not among them is gone.
void FileSource::LetGo() {
  emptied_ = false;
  refilled_at_ = Clock::time_point::max();
  std::vector<FileChange> changes;
  for (const std::string& path : catalog_.Paths()) {
    FileInfo info;
    if (!StatFile(path, &info) && !IsBlocked(path)) changes.push_back({FileChange::Kind::kGone, path});
  }
  for (const std::string& path : std::exchange(passed_over_, {})) {
    FileInfo info;
    if (StatFile(path, &info)) changes.push_back({FileChange::Kind::kReady, path});
  }
  Take(changes);
}

void FileSource::Remove(const std::string& path) {
  catalog_.Remove(path);
  if (options_.kept != nullptr) options_.kept->Remove(path);
}

void FileSource::Put(const FileChange& change, absl::StatusOr<ParsedFile>& parsed) {
  const std::string& path = change.path;
  passed_over_.erase(path);
  const bool unfinished = change.kind == FileChange::Kind::kUnfinished || watcher_->ChangedSince(path);
  if (!synced_ && (!parsed.ok() || !parsed->IsWhole() || parsed->result.empty)) Restore(path);
  if (!parsed.ok()) {
    if (!unfinished || IsBlocked(path))
      catalog_.SetUnreadable(path, std::string(FromAbsl(parsed.status().message())));
    return;
  }
  DropRemarksOn(options_.acted_on, &parsed->result.diagnostics);
  CountValidated(parsed->result);
  ParsedFile& file = *parsed;
  const std::vector<std::string> documents = std::move(file.result.documents);
  const std::vector<config::ConfigPtr> objects =
      file.to_keep && !unfinished ? file.result.objects : std::vector<config::ConfigPtr>();
  const Hash128 whole = file.IsWhole() && !file.result.empty ? file.text : Hash128();
  catalog_.Put(path, std::move(file.result), unfinished, file.time);
  if (file.to_keep && !unfinished) Keep(path, whole, file.time, objects, documents);
}

// What an earlier process kept of a file that cannot be read whole at the start of this one.
void FileSource::Restore(const std::string& path) {
  if (options_.kept == nullptr) return;
  if (const std::optional<GoodFile> file = options_.kept->Find(path))
    catalog_.Restore(path, VersionsOf(*file));
}

// What an earlier process kept of a folder that has nothing at the start of this one.
void FileSource::RestoreAll() {
  if (options_.kept == nullptr) return;
  for (const GoodFile& file : options_.kept->FilesIn(options_.folder))
    catalog_.Restore(file.path, VersionsOf(file));
}

void FileSource::Keep(const std::string& path, const Hash128& whole, int64_t time,
                      const std::vector<config::ConfigPtr>& objects,
                      const std::vector<std::string>& documents) {
  GoodFile file{path, whole, {}};
  for (size_t i = 0; i < objects.size(); ++i) {
    if (documents[i].empty()) {
      file.whole = {};  // a Secret is not kept, nor is anything that was made of it
      continue;
    }
    file.parts.push_back(
        {config::Describe(KeyOf(*objects[i])), time, objects[i]->origin().line, documents[i]});
  }
  std::set<std::string> stale;
  for (const FileCatalog::Version& version : catalog_.VersionsOf(path)) {
    if (version.stale) stale.insert(config::Describe(KeyOf(*version.object)));
  }
  options_.kept->Put(std::move(file), std::move(stale));
}

// That there is nothing in the folder and never was, or all that was is gone.
std::optional<config::Diagnostic> FileSource::Emptiness() const {
  config::Diagnostic diagnostic;
  diagnostic.file = options_.folder;
  if (emptied_) {
    diagnostic.code = "emptied-folder";
    diagnostic.message =
        StrCat("nothing is left in the folder: the ", catalog_.versions(),
               " objects that it held stay in force until it has manifests again (--onEmptied=keep)");
    return diagnostic;
  }
  if (had_files_) return std::nullopt;
  diagnostic.severity = config::Severity::kWarning;
  diagnostic.code = "empty-folder";
  diagnostic.message = "there is no manifest in the folder";
  return diagnostic;
}

void FileSource::Tell(const std::vector<PathProblem>& problems) {
  told_problems_ = problems;
  files_ = catalog_.files();
  had_files_ = had_files_ || files_ > 0;
  if (std::vector<config::ObjectChange> changes = catalog_.TakeChanges(); !changes.empty()) {
    sink_->OnChanges(std::move(changes));
  }
  std::vector<config::Diagnostic> diagnostics;
  diagnostics.reserve(problems.size());
  for (const PathProblem& problem : problems) diagnostics.push_back(ToDiagnostic(problem));
  if (auto emptiness = Emptiness()) diagnostics.push_back(*std::move(emptiness));
  const auto is_there = [](const std::string& path) {
    FileInfo info;
    return StatFile(path, &info);
  };
  for (config::Diagnostic& diagnostic : catalog_.Diagnostics(is_there))
    diagnostics.push_back(std::move(diagnostic));
  StaleObjects().Set(static_cast<double>(emptied_ ? catalog_.versions() : catalog_.stale()));
  UnreadablePolicies().Set(static_cast<double>(catalog_.lost()));
  NotActedOn().Set(static_cast<double>(ObjectsWithoutEffect(diagnostics)));
  std::vector<std::string> texts;
  texts.reserve(diagnostics.size());
  for (const config::Diagnostic& diagnostic : diagnostics) texts.push_back(ToText(diagnostic));
  if (texts != told_diagnostics_ || !synced_) {
    told_diagnostics_ = std::move(texts);
    sink_->OnDiagnostics(std::move(diagnostics));
  }
  if (std::exchange(synced_, true)) return;
  if (options_.kept != nullptr) options_.kept->RetainOnly(options_.folder, catalog_.Paths());
  sink_->OnSynced();
}

}  // namespace fairlead::source
