#ifndef FAIRLEAD_SOURCE_FILE_LAST_GOOD_H_
#define FAIRLEAD_SOURCE_FILE_LAST_GOOD_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/executor.h"
#include "base/hash.h"

namespace fairlead::source {

// The last good version of what a file holds.
struct GoodFile {
  struct Part {
    std::string key;   // of an object, "VirtualService shop/web"; "" for the only part of a file
    int64_t time = 0;  // Unix seconds: when the file was written that had this version
    int line = 0;      // 1-based
    std::string text;
    friend bool operator==(const Part&, const Part&) = default;
  };
  std::string path;
  Hash128 whole = {};       // of the file's text, where all in it is good and here; else zero
  std::vector<Part> parts;  // in the order of the lines
};

// Last good versions on disk, so that they outlive the process (--stateDir): a file each in a folder of its
// own, for the owner alone, written whole (rename) and synced, with the format's version and a checksum. What
// is damaged or of another version counts as absent, with a line in the log. A process that finds the folder
// taken by another one reads and does not write. Writing is done on a thread of its own, in the order of the
// calls; what cannot be written is logged and counted. Of relative paths the absolute ones count.
// Thread-safe.
class LastGood {
 public:
  // Fails where the folder cannot be made or locked at all.
  static absl::StatusOr<std::unique_ptr<LastGood>> Open(std::string folder);
  ~LastGood();  // writes what waits
  LastGood(const LastGood&) = delete;
  LastGood& operator=(const LastGood&) = delete;

  // What is kept of the file of this path, as of the last call of Flush or later.
  std::optional<GoodFile> Find(const std::string& path) const;
  // Whether what is kept of the file is this text, all of it.
  bool Holds(const std::string& path, const Hash128& whole) const;
  // What is kept of the files that lie in the folder, as of now, in the order of their paths; these begin
  // with the folder's as it is given.
  std::vector<GoodFile> FilesIn(const std::string& folder) const;
  // Keeps this version. Parts with the keys of `stale` are taken from what was kept before.
  void Put(GoodFile file, std::set<std::string> stale = {});
  void Remove(const std::string& path);
  // Forgets all files but these and those that lie outside `folder`.
  void RetainOnly(const std::string& folder, std::vector<std::string> paths);
  // Waits until all of it is on disk.
  void Flush();

  bool read_only() const { return lock_ < 0; }

 private:
  LastGood(std::string folder, int lock) : folder_(std::move(folder)), lock_(lock) {}
  std::string NameOf(const std::string& path) const;
  void Write(const GoodFile& file);
  void Submit(std::function<void()> task);

  const std::string folder_;
  const int lock_;        // a descriptor; -1 where another process has the folder
  bool failing_ = false;  // the last write did; of the executor's thread alone
  std::mutex mutex_;
  std::condition_variable idle_;
  size_t waiting_ = 0;  // guarded by mutex_
  Executor writer_{"state", 1};
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_FILE_LAST_GOOD_H_
