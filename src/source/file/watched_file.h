#ifndef FAIRLEAD_SOURCE_FILE_WATCHED_FILE_H_
#define FAIRLEAD_SOURCE_FILE_WATCHED_FILE_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "source/file/folder_watcher.h"

namespace fairlead::source {

// One file that is watched as FileSource watches a folder: --meshConfig, --networksConfig.
class WatchedFile {
 public:
  // Called with the file's text when it is there first and whenever its content has changed and settled; with
  // an error where it is gone or cannot be read, which most users answer by going on with what they have. The
  // first call is on the thread of Start, before it returns; the others on the watcher's own, one at a time.
  using Callback = std::function<void(absl::StatusOr<std::string>)>;

  WatchedFile(std::string path, Callback callback, WatchOptions timing = {});
  ~WatchedFile();

  // NotFound where the file's folder does not exist; the file itself need not.
  absl::Status Start();
  void Stop();

 private:
  void Run();
  void Tell(FileChange::Kind kind);

  const std::string path_;
  const Callback callback_;
  std::unique_ptr<FolderWatcher> watcher_;
  std::thread thread_;
  absl::StatusOr<std::string> told_;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_FILE_WATCHED_FILE_H_
