#ifndef FAIRLEAD_SOURCE_FILE_WATCHED_FILES_H_
#define FAIRLEAD_SOURCE_FILE_WATCHED_FILES_H_

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "http2/socket.h"
#include "source/file/inotify.h"

namespace fairlead::source {

// The state of a file without its content: a changed or replaced file has another state. Links are followed.
class FileState {
 public:
  static FileState Of(const std::vector<std::string>& files);
  // Whether one was changed so shortly before it was looked at that a change after it may not show.
  bool recent() const { return recent_; }
  friend bool operator==(const FileState& a, const FileState& b) { return a.numbers_ == b.numbers_; }

 private:
  std::vector<int64_t> numbers_;
  bool recent_ = false;
};

// The folders to watch for changes of these files: the file's folder, folders of links on its way, and the
// last existing folder before a missing file.
std::set<std::string> FoldersOf(const std::vector<std::string>& files);

// Whether other machines may change files there without an event here: NFS, SMB, CIFS, AFS, Ceph, 9p, FUSE.
bool IsRemote(const std::string& folder);

// Waits for changes of files by inotify; where the system cannot tell of all of them, for a second. For one
// thread, which another may wake.
class WatchedFiles {
 public:
  // `together`: several changes of that time are one.
  explicit WatchedFiles(std::chrono::milliseconds together);
  // From now on these files; there may be none. Changes between two calls are not missed: the folders stay
  // watched.
  void Watch(const std::vector<std::string>& files);
  // Until something may have changed, a wake, or that time. max(): as long as it takes.
  void Wait(Clock::time_point until);
  // Thread-safe, as nothing else.
  void Wake() const;

 private:
  Inotify inotify_;
  const http2::File wake_;
  const std::chrono::milliseconds together_;
  bool complete_ = true;  // the system tells of every change
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_FILE_WATCHED_FILES_H_
