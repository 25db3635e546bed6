#include "source/file/folder_scanner.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "base/errno_text.h"
#include "base/strings.h"

namespace fairlead::source {
namespace {

int64_t Nanoseconds(const timespec& time) { return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

Fingerprint FingerprintOf(const struct stat& status) {
  return {status.st_dev, status.st_ino, static_cast<uint64_t>(status.st_size), Nanoseconds(status.st_mtim),
          Nanoseconds(status.st_ctim)};
}

class Scanner {
 public:
  explicit Scanner(const ScanOptions& options) : options_(options) {}

  FolderListing Scan(const std::string& folder) {
    struct stat status;
    if (stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
      listing_.missing = true;
      return std::move(listing_);
    }
    List(folder, status, 0);
    return std::move(listing_);
  }

 private:
  static constexpr int kDeepestFolder = 64;

  void List(const std::string& folder, const struct stat& status, int depth) {
    if (!seen_.emplace(status.st_dev, status.st_ino).second) return;
    if (options_.on_folder) options_.on_folder(folder);
    DIR* handle = opendir(folder.c_str());
    if (handle == nullptr) {
      listing_.problems.push_back({folder, StrCat("the folder cannot be read: ", ErrnoText(errno)), false});
      return;
    }
    std::vector<std::string> names;
    while (const dirent* entry = readdir(handle)) {
      names.emplace_back(entry->d_name);
    }
    closedir(handle);
    std::sort(names.begin(), names.end());
    for (const std::string& name : names)
      Visit(StrCat(folder, folder.ends_with('/') ? "" : "/", name), name, depth);
  }

  void Visit(const std::string& path, const std::string& name, int depth) {
    struct stat status;
    if (lstat(path.c_str(), &status) != 0) return;  // gone meanwhile
    const bool symlink = S_ISLNK(status.st_mode);
    if (symlink && stat(path.c_str(), &status) != 0) {
      if (options_.wants(name)) listing_.problems.push_back({path, "the link leads nowhere", true});
      return;
    }
    if (S_ISDIR(status.st_mode)) {
      if (symlink) listing_.folder_links.insert(path);
      if (options_.recursive && depth < kDeepestFolder && !name.starts_with('.'))
        List(path, status, depth + 1);
    } else if (S_ISREG(status.st_mode) && options_.wants(name)) {
      listing_.files.emplace(path, FileInfo{FingerprintOf(status), symlink});
      if (symlink) TellTarget(path);
    }
  }

  void TellTarget(const std::string& path) {
    if (!options_.on_link_target) return;
    char* target = realpath(path.c_str(), nullptr);
    if (target == nullptr) return;
    options_.on_link_target(ParentOf(target));
    free(target);
  }

  const ScanOptions& options_;
  FolderListing listing_;
  std::set<std::pair<dev_t, ino_t>> seen_;
};

}  // namespace

FolderListing ScanFolder(const std::string& folder, const ScanOptions& options) {
  return Scanner(options).Scan(folder);
}

bool StatFile(const std::string& path, FileInfo* info) {
  struct stat status;
  if (lstat(path.c_str(), &status) != 0) return false;
  info->symlink = S_ISLNK(status.st_mode);
  if (info->symlink && stat(path.c_str(), &status) != 0) return false;
  info->fingerprint = FingerprintOf(status);
  return S_ISREG(status.st_mode);
}

bool IsBlocked(const std::string& path) {
  struct stat status;
  if (lstat(path.c_str(), &status) != 0) return false;
  if (S_ISLNK(status.st_mode) && stat(path.c_str(), &status) != 0) return true;
  return !S_ISREG(status.st_mode);
}

std::string ParentOf(const std::string& path) {
  const size_t last = path.find_last_not_of('/');
  if (last == std::string::npos) return "/";
  const size_t slash = path.rfind('/', last);
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string_view BaseName(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path.substr(path.rfind('/') + 1);
}

}  // namespace fairlead::source
