#include "source/file/watched_files.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <ctime>
#include <utility>

#include "base/files.h"
#include "base/log.h"
#include "base/strings.h"

namespace fairlead::source {
namespace {

LogScope watch_log("source");

constexpr int kMostLinks = 32;
constexpr std::chrono::seconds kLookEvery{1};  // where the system does not tell
constexpr int64_t kRecentSeconds = 2;

// The folders for one absolute path.
void AddFolders(const std::string& path, int links, std::set<std::string>* folders) {
  std::string folder = "/";
  for (size_t at = 1; at <= path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    const std::string next = StrCat(folder, folder.ends_with('/') ? "" : "/", path.substr(at, end - at));
    struct stat found {};
    const bool is_last = end == path.size();
    if (lstat(next.c_str(), &found) != 0 || (is_last && !S_ISLNK(found.st_mode))) {
      folders->insert(folder);
      return;
    }
    if (S_ISLNK(found.st_mode)) {
      folders->insert(folder);
      std::array<char, PATH_MAX> target{};
      const ssize_t size = readlink(next.c_str(), target.data(), target.size());
      if (size <= 0 || links == kMostLinks) return;
      const std::string to(target.data(), static_cast<size_t>(size));
      const std::string whole = to.starts_with('/') ? to : StrCat(folder, "/", to);
      return AddFolders(StrCat(whole, path.substr(end)), links + 1, folders);
    }
    folder = next;
    at = end + 1;
  }
}

}  // namespace

FileState FileState::Of(const std::vector<std::string>& files) {
  FileState state;
  const int64_t now = std::time(nullptr);
  for (const std::string& file : files) {
    struct stat found {};
    if (stat(file.c_str(), &found) != 0) {
      state.numbers_.push_back(-errno);
      continue;
    }
    for (const auto number :
         {int64_t(found.st_dev), int64_t(found.st_ino), int64_t(found.st_size), int64_t(found.st_mtim.tv_sec),
          int64_t(found.st_mtim.tv_nsec), int64_t(found.st_ctim.tv_sec), int64_t(found.st_ctim.tv_nsec)})
      state.numbers_.push_back(number);
    // Not of one whose time is to come: it would be looked at for ever.
    const int64_t age = now - std::max(found.st_mtim.tv_sec, found.st_ctim.tv_sec);
    state.recent_ = state.recent_ || (age >= 0 && age < kRecentSeconds);
  }
  return state;
}

std::set<std::string> FoldersOf(const std::vector<std::string>& files) {
  std::set<std::string> folders;
  for (const std::string& file : files) AddFolders(AbsolutePath(file), 0, &folders);
  return folders;
}

bool IsRemote(const std::string& folder) {
  struct statfs status;
  if (statfs(folder.c_str(), &status) != 0) return false;
  switch (static_cast<uint32_t>(status.f_type)) {
    case 0x6969:
    case 0x517B:
    case 0xFE534D42:
    case 0xFF534D42:
    case 0x5346414F:
    case 0x00C36400:
    case 0x01021997:
    case 0x65735546:
      return true;
    default:
      return false;
  }
}

WatchedFiles::WatchedFiles(std::chrono::milliseconds together)
    : wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      // Folders in which much happens cost no more than a hundred looks a second.
      together_(std::clamp(together, std::chrono::milliseconds(10), std::chrono::milliseconds(60'000))) {}

void WatchedFiles::Watch(const std::vector<std::string>& files) {
  const bool was_complete = std::exchange(complete_, true);
  if (files.empty()) return inotify_.Close();
  if (inotify_.fd() < 0) {
    const absl::Status status = inotify_.Open();
    complete_ = status.ok();
    if (!complete_ && was_complete)
      watch_log.Warn("files are checked every second: {}", FromAbsl(status.message()));
    if (!complete_) return;
  }
  inotify_.BeginGeneration();
  for (const std::string& folder : FoldersOf(files)) {
    // A folder that cannot be watched, as one that is not to be read, is asked by looking at the file.
    if (!inotify_.Watch(folder, kTargetRole).ok() || IsRemote(folder)) complete_ = false;
  }
  inotify_.EndGeneration();
}

void WatchedFiles::Wait(Clock::time_point until) {
  const Clock::time_point now = Clock::now();
  if (!complete_) until = std::min(until, now + kLookEvery);
  int at_most = -1;
  if (until != Clock::time_point::max()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now).count();
    at_most = static_cast<int>(std::clamp<int64_t>(left, 0, INT_MAX));
  }
  std::array<pollfd, 2> waits{{{wake_.get(), POLLIN, 0}, {inotify_.fd(), POLLIN, 0}}};
  poll(waits.data(), inotify_.fd() < 0 ? 1 : 2, at_most);
  uint64_t count = 0;
  if (waits[1].revents != 0 && waits[0].revents == 0)
    poll(waits.data(), 1, static_cast<int>(together_.count()));
  if (waits[0].revents != 0) static_cast<void>(!read(wake_.get(), &count, sizeof count));
  if (waits[1].revents != 0) static_cast<void>(inotify_.Read());
}

void WatchedFiles::Wake() const {
  const uint64_t one = 1;
  static_cast<void>(!write(wake_.get(), &one, sizeof one));
}

}  // namespace fairlead::source
