#include "source/file/file_source.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "base/hash.h"
#include "base/metrics.h"
#include "base/strings.h"
#include "base/thread.h"
#include "config/manifests.h"
#include "config/no_effect.h"
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

constexpr int64_t kNanosASecond = 1'000'000'000;

struct ParsedFile {
  config::ParseResult result;
  int64_t time = 0;  // Unix seconds: when it was written
  Hash128 text = {};
  bool to_keep = false;  // it differs from what is kept of it
};

absl::StatusOr<ParsedFile> ParseFile(const std::string& path, const LastGood* kept) {
  ParsedFile file;
  FileInfo info;
  if (StatFile(path, &info)) file.time = info.fingerprint.modified_ns / kNanosASecond;
  absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  if (kept != nullptr && !kept->read_only()) {
    file.text = StableHash(*text);
    file.to_keep = !kept->Holds(path, file.text);
  }
  file.result = config::ParseManifests(*text, path, config::Admission::kChecked,
                                       file.to_keep ? config::Documents::kKept : config::Documents::kDropped);
  return file;
}

using Parsed = std::vector<std::optional<absl::StatusOr<ParsedFile>>>;

// Parses the files that are not gone; results are in the order of the changes. Threads take one file after
// another; there are fewer where the system has no more to give.
Parsed ParseAll(const std::vector<FileChange>& changes, int threads, const LastGood* kept) {
  Parsed results(changes.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < changes.size(); i = next++) {
      if (changes[i].kind != FileChange::Kind::kGone) results[i] = ParseFile(changes[i].path, kept);
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

bool IsWhole(const config::ParseResult& result) { return !result.unreadable && result.broken.empty(); }

// The parts as one text, each on the lines that it was on as far as there is room.
std::string TextOf(const GoodFile& file) {
  std::string text;
  int line = 1;
  for (const GoodFile::Part& part : file.parts) {
    if (line > 1) text += '\n', ++line;
    for (; line < part.line; ++line) text += '\n';
    StrAppend(&text, "--- ", part.text);
    line += static_cast<int>(std::count(part.text.begin(), part.text.end(), '\n'));
  }
  return text;
}

// What was good and no longer is, by a change of the rules or because it was damaged, is left out.
std::vector<FileCatalog::Version> VersionsOf(const GoodFile& file) {
  std::map<std::string_view, int64_t> times;
  for (const GoodFile::Part& part : file.parts) times[part.key] = part.time;
  std::vector<FileCatalog::Version> versions;
  for (config::ConfigPtr& object : config::ParseManifests(TextOf(file), file.path).objects) {
    const int64_t time = times[config::Describe(KeyOf(*object))];
    versions.push_back({std::move(object), time, true});
  }
  return versions;
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
    const FolderChanges changes = watcher_->Next();
    if (changes.stopped) return;
    Take(changes.files);
    Tell(changes.problems);
  }
}

void FileSource::Take(const std::vector<FileChange>& changes) {
  Parsed parsed = ParseAll(changes, ThreadCount(options_.threads), options_.kept);
  for (size_t i = 0; i < changes.size(); ++i) {
    const auto& [kind, path] = changes[i];
    if (!parsed[i]) {
      catalog_.Remove(path);
      if (options_.kept != nullptr) options_.kept->Remove(path);
      continue;
    }
    const bool unfinished = kind == FileChange::Kind::kUnfinished || watcher_->ChangedSince(path);
    if (!synced_ && (!parsed[i]->ok() || !IsWhole((*parsed[i])->result))) Restore(path);
    if (parsed[i]->ok()) {
      DropRemarksOn(options_.acted_on, &(**parsed[i]).result.diagnostics);
      CountValidated((**parsed[i]).result);
      ParsedFile& file = **parsed[i];
      const std::vector<std::string> documents = std::move(file.result.documents);
      const std::vector<config::ConfigPtr> objects =
          file.to_keep && !unfinished ? file.result.objects : std::vector<config::ConfigPtr>();
      const Hash128 whole = IsWhole(file.result) ? file.text : Hash128();
      catalog_.Put(path, std::move(file.result), unfinished, file.time);
      if (file.to_keep && !unfinished) Keep(path, whole, file.time, objects, documents);
    } else if (!unfinished) {
      catalog_.SetUnreadable(path, std::string(FromAbsl(parsed[i]->status().message())));
    }
  }
}

// What an earlier process kept of a file that cannot be read whole at the start of this one.
void FileSource::Restore(const std::string& path) {
  if (options_.kept == nullptr) return;
  if (const std::optional<GoodFile> file = options_.kept->Find(path))
    catalog_.Restore(path, VersionsOf(*file));
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

void FileSource::Tell(const std::vector<PathProblem>& problems) {
  files_ = catalog_.files();
  if (std::vector<config::ObjectChange> changes = catalog_.TakeChanges(); !changes.empty()) {
    sink_->OnChanges(std::move(changes));
  }
  std::vector<config::Diagnostic> diagnostics;
  diagnostics.reserve(problems.size());
  for (const PathProblem& problem : problems) diagnostics.push_back(ToDiagnostic(problem));
  const auto is_there = [](const std::string& path) {
    FileInfo info;
    return StatFile(path, &info);
  };
  for (config::Diagnostic& diagnostic : catalog_.Diagnostics(is_there))
    diagnostics.push_back(std::move(diagnostic));
  StaleObjects().Set(static_cast<double>(catalog_.stale()));
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
