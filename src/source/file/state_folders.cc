#include "source/file/state_folders.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/log.h"
#include "base/strings.h"
#include "source/file/folder_scanner.h"
#include "source/file/read_file.h"

namespace fairlead::source {
namespace {

LogScope state_log("state");

constexpr size_t kNameLength = 16;
constexpr std::string_view kFolderName = "folder", kLockName = "lock", kGoodSuffix = ".good";

bool IsHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool IsOurs(std::string_view name) {
  if (name == kFolderName || name == kLockName) return true;
  return name.ends_with(kGoodSuffix) && IsHex(name.substr(0, name.size() - kGoodSuffix.size()));
}

// The path of the file of manifests that a last good version is of; "" where it does not say.
std::string ManifestOf(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return "";
  const std::optional<nlohmann::json> json = ParseJson(std::string_view(*text).substr(text->find('\n') + 1));
  return json && json->is_object() ? JsonString(*json, "path") : "";
}

// One sub-folder, with what is in it.
class State {
 public:
  explicit State(std::string path) : path_(std::move(path)) {}

  // False where it is not to be touched, or changed not long ago.
  bool MayGo(std::chrono::seconds age) {
    struct stat status;
    if (lstat(path_.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != geteuid())
      return false;
    absl::StatusOr<std::vector<std::string>> names = ListFolder(path_);
    if (!names.ok() || !std::all_of(names->begin(), names->end(), IsOurs)) return false;
    names_ = *std::move(names);
    time_t newest = status.st_mtime;
    for (const std::string& name : names_) {
      if (lstat((path_ + "/" + name).c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
      newest = std::max(newest, status.st_mtime);
    }
    return time(nullptr) - newest >= age.count();
  }

  // The folder of manifests that it is for; "" where nobody knows.
  std::string Folder() const {
    const std::string own(BaseName(path_));
    const absl::StatusOr<std::string> noted = ReadFile(StrCat(path_, "/", kFolderName));
    if (noted.ok() && StateFolderOf(*noted) == own) return *noted;
    for (const std::string& name : names_) {
      if (!name.ends_with(kGoodSuffix)) continue;
      for (std::string folder = ManifestOf(StrCat(path_, "/", name)); folder.size() > 1;) {
        folder = ParentOf(folder);
        if (StateFolderOf(folder) == own) return folder;
      }
    }
    return "";
  }

  bool HoldsVersions() const {
    return std::any_of(names_.begin(), names_.end(),
                       [](const std::string& name) { return name.ends_with(kGoodSuffix); });
  }

  // Unless a process has it open.
  bool Remove() const {
    const int lock =
        open(StrCat(path_, "/", kLockName).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock < 0) return false;
    const bool free = flock(lock, LOCK_EX | LOCK_NB) == 0;
    for (const std::string& name : names_) {
      if (free && name != kLockName) unlink((path_ + "/" + name).c_str());
    }
    if (free) unlink(StrCat(path_, "/", kLockName).c_str());
    close(lock);
    return free && rmdir(path_.c_str()) == 0;
  }

 private:
  const std::string path_;
  std::vector<std::string> names_;
};

bool IsGone(const std::string& folder) {
  struct stat status;
  return lstat(folder.c_str(), &status) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

}  // namespace

std::string StateFolderOf(const std::string& folder) {
  return ToHex(StableHash(folder)).substr(0, kNameLength);
}

void NoteFolder(const std::string& state, const std::string& folder) {
  // What cannot be written is said when a version is kept.
  (void)WritePrivateFile(StrCat(state, "/", kFolderName), folder);
}

void RemoveAbandonedStates(const std::string& states, const std::string& own, std::chrono::seconds age) {
  const absl::StatusOr<std::vector<std::string>> names = ListFolder(states);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    if (name.size() != kNameLength || !IsHex(name) || name == own) continue;
    State state(StrCat(states, "/", name));
    if (!state.MayGo(age)) continue;
    const std::string folder = state.Folder();
    if (folder.empty() ? state.HoldsVersions() : !IsGone(folder)) continue;
    if (state.Remove())
      state_log.Info("{}/{} is removed: its folder of manifests{}{} is gone", states, name,
                     folder.empty() ? "" : " ", folder);
  }
}

}  // namespace fairlead::source
