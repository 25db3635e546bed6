#ifndef FAIRLEAD_SOURCE_FILE_INOTIFY_H_
#define FAIRLEAD_SOURCE_FILE_INOTIFY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"

namespace fairlead::source {

// Why a folder is watched; it can be for several reasons.
enum WatchRole : uint8_t {
  kFolderRole = 1,  // its files are read
  kTargetRole = 2,  // a link to a file ends here
  kParentRole = 4,  // the root folder lies here
};

struct FileEvent {
  uint8_t roles = 0;   // WatchRole of the folder
  uint32_t mask = 0;   // IN_…; IN_Q_OVERFLOW where events were lost
  std::string folder;  // as it was given; "" for IN_Q_OVERFLOW
  std::string name;    // "" for the folder itself
};

// Linux's inotify (inotify(7)) on a set of folders that is renewed by generations: BeginGeneration, Watch
// each folder, EndGeneration drops the watches that were not asked for again. One thread at a time.
class Inotify {
 public:
  Inotify() = default;
  ~Inotify();
  Inotify(const Inotify&) = delete;
  Inotify& operator=(const Inotify&) = delete;

  absl::Status Open();
  void Close();
  // For poll(2); -1 where it is not open.
  int fd() const { return fd_; }

  void BeginGeneration() { ++generation_; }
  // ResourceExhausted where the system has no more watches; NotFound and PermissionDenied for the folder's
  // own faults.
  absl::Status Watch(const std::string& folder, WatchRole role);
  void EndGeneration();

  // What has happened; returns at once.
  std::vector<FileEvent> Read();

 private:
  struct Watched {
    std::string folder;
    uint8_t roles;
    uint64_t generation;
  };
  int fd_ = -1;
  uint64_t generation_ = 0;
  absl::flat_hash_map<int, Watched> watched_;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_FILE_INOTIFY_H_
