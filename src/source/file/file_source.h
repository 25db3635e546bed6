#ifndef FAIRLEAD_SOURCE_FILE_FILE_SOURCE_H_
#define FAIRLEAD_SOURCE_FILE_FILE_SOURCE_H_

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "source/file/file_catalog.h"
#include "source/file/folder_watcher.h"
#include "source/file/last_good.h"
#include "source/file/parsed_file.h"
#include "source/source.h"

namespace fairlead::source {

// Whether a file of this name is read in a folder: *.yaml, *.yml and *.json, but none that begins with a dot.
bool IsManifestName(std::string_view name);

// Manifests in a folder and the folders below: *.yaml, *.yml and *.json, names beginning with a dot left out.
// Follows changes (see FolderWatcher); one batch for each that has settled. A file or object that breaks
// keeps its last good version, with a diagnostic; a removed file removes its objects. An object in two files
// counts from the one that it counts from already, at the start from the one whose path comes first. Where
// the folder itself is removed, what it held stays in effect until it is there again, and so does what it
// held where all of it goes at once, unless `on_emptied` says otherwise. With `kept`, what a file that is
// broken at the start once held is taken from there. Everything reaches the sink on the source's own thread;
// parsing of many files uses `threads` at once.
class FileSource : public Source {
 public:
  struct Options {
    std::string folder;
    int threads = 0;           // 0: as many as there are processors, at most 8
    WatchOptions watch;        // its folder and its wishes are set by the source
    LastGood* kept = nullptr;  // may be null; must outlive the source
    // Where no manifest is left of a folder that had objects: they stay until there are manifests again and
    // nothing has changed for `refilled_after`, or go.
    enum class OnEmptied : uint8_t { kKeep, kServe };
    OnEmptied on_emptied = OnEmptied::kServe;
    std::chrono::milliseconds refilled_after{2000};
    FileCatalog::LostPolicies lost_policies = FileCatalog::LostPolicies::kServed;
    // Kinds of config::NoEffectTable that a feature gives an effect: nothing is said of them.
    std::vector<config::Kind> acted_on;
  };
  explicit FileSource(Options options);
  ~FileSource() override;

  // NotFound where there is no such folder.
  absl::Status Start(Sink* sink) override;
  void Stop() override;
  std::string Name() const override;
  std::string Amount() const override;

 private:
  void Run();
  using Clock = std::chrono::steady_clock;
  void Take(const std::vector<FileChange>& changes);
  bool IsAnythingLeft(const std::vector<FileChange>& changes, const ParsedFiles& parsed) const;
  void Guard(const std::vector<FileChange>& changes, const ParsedFiles& parsed);
  void LetGo();
  void Put(const FileChange& change, absl::StatusOr<ParsedFile>& parsed);
  void Remove(const std::string& path);
  void Restore(const std::string& path);
  void RestoreAll();
  void Keep(const std::string& path, const Hash128& whole, int64_t time,
            const std::vector<config::ConfigPtr>& objects, const std::vector<std::string>& documents);
  std::optional<config::Diagnostic> Emptiness() const;
  void Tell(const std::vector<PathProblem>& problems);

  const Options options_;
  Sink* sink_ = nullptr;
  std::unique_ptr<FolderWatcher> watcher_;
  std::thread thread_;
  std::atomic<size_t> files_{0};
  FileCatalog catalog_{options_.lost_policies};  // from here on: of the source's thread alone
  bool emptied_ = false;                         // all that the folder held went at once, and is kept
  // Where it has manifests again: when what did not come back is let go of.
  Clock::time_point refilled_at_ = Clock::time_point::max();
  std::set<std::string> passed_over_;  // while it is emptied: files that are gone or hold nothing
  std::vector<PathProblem> told_problems_;
  bool had_files_ = false;
  std::vector<std::string> told_diagnostics_;
  bool synced_ = false;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_FILE_FILE_SOURCE_H_
