#ifndef FAIRLEAD_SOURCE_FILE_FOLDER_WATCHER_H_
#define FAIRLEAD_SOURCE_FILE_FOLDER_WATCHER_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "source/file/folder_scanner.h"
#include "source/file/inotify.h"

namespace fairlead::source {

struct WatchOptions {
  std::string folder;
  bool recursive = true;
  std::function<bool(std::string_view name)> wants;  // of a file
  // Where inotify cannot be had or sees nothing (network file systems), the folder is listed this often.
  std::chrono::milliseconds poll_interval{1000};
  bool poll = false;  // even where inotify works
  // A file that is gone counts as gone after this time only: editors and tools write by delete and create
  // anew. While more files go, none counts as gone, for ten times as long at most: so that a folder that is
  // being emptied is told of at once.
  std::chrono::milliseconds removal_grace{100};
  // A file that a writer keeps open is read when nothing was written for this long.
  std::chrono::milliseconds unfinished_after{1000};
  // Lists all anew now and then for changes that no event tells of, such as far behind a chain of links.
  std::chrono::milliseconds safety_rescan{10000};
};

struct FileChange {
  enum class Kind {
    kReady,       // new or changed, and whole as far as one can know; or no file any more, but there
    kUnfinished,  // changed, but somebody still writes it
    kGone,
  };
  Kind kind;
  std::string path;
};

struct FolderChanges {
  std::vector<FileChange> files;      // each path once, sorted
  std::vector<PathProblem> problems;  // all there are now
  bool stopped = false;
  bool timed_out = false;  // there is nothing to tell
};

// Tells when files of a folder have changed and the change has settled: a file that was closed after writing,
// renamed or linked into place at once (2 ms, so that changes of one stroke come together), one that is being
// written when it is closed. Follows new, moved and deleted sub-folders, links that are swapped (as
// Kubernetes does with ConfigMap volumes) and the folder itself; while that is missing, its files count as
// unchanged. Open, Next and ChangedSince belong to one thread, Stop to any.
class FolderWatcher {
 public:
  explicit FolderWatcher(WatchOptions options);
  ~FolderWatcher();
  FolderWatcher(const FolderWatcher&) = delete;
  FolderWatcher& operator=(const FolderWatcher&) = delete;

  // NotFound where there is no such folder.
  absl::Status Open();
  // The first call returns all files there are, at once; later ones block until there is something to tell,
  // or it is that late.
  FolderChanges Next(
      std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max());
  // To be asked once a file that Next told of has been read: whether it changed since, so that what was read
  // may be half of something. Next will tell of it again.
  bool ChangedSince(const std::string& path);
  // Makes Next return with `stopped`, now and from then on.
  void Stop();

 private:
  using Clock = std::chrono::steady_clock;
  struct Pending {
    Clock::time_point due;
    bool gone = false;                 // else there is something to read
    std::optional<Fingerprint> found;  // how it looked: it must still look so when due
    Clock::time_point since = {};      // of a file that is gone
  };

  FolderChanges First();
  void Rescan();
  void TakeListing(const FolderListing& listing);
  void Found(const std::string& path, const FileInfo& info);
  void HandleEvents();
  void HandleEvent(const FileEvent& event);
  void HandleFileEvent(const FileEvent& event, const std::string& path);
  void HandleOtherName(const std::string& path);
  void Ready(const std::string& path);
  void Gone(const std::string& path);
  void Wait(Clock::time_point until);
  Clock::time_point NextDeadline() const;
  std::optional<Clock::time_point> LastGoing(Clock::time_point now) const;
  void Flush(std::vector<FileChange>* changes);
  std::optional<FileChange> Settle(const std::string& path, const Pending& pending);
  void WatchFolder(const std::string& folder, WatchRole role);
  void FallBackToPolling(std::string_view reason);

  const WatchOptions options_;
  Inotify inotify_;
  int wake_ = -1;  // an eventfd
  std::atomic<bool> stopped_{false};
  bool first_ = true;
  bool polling_ = false;
  Clock::time_point rescan_at_;
  std::map<std::string, Fingerprint> known_;  // as told last
  std::map<std::string, Pending> pending_;
  std::set<std::string> writing_;       // changed and not closed since
  std::set<std::string> folder_links_;  // of the last listing
  std::optional<PathProblem> polling_problem_;
  std::vector<PathProblem> problems_, told_problems_;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_FILE_FOLDER_WATCHER_H_
