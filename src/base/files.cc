#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/errno_text.h"
#include "base/strings.h"

namespace fairlead {
namespace {

namespace fs = std::filesystem;

absl::Status StatusOf(const std::error_code& error, std::string_view what, const std::string& path) {
  if (!error) return absl::OkStatus();
  const std::string message = StrCat("cannot ", what, " ", path, ": ", error.message());
  if (error == std::errc::no_such_file_or_directory) return absl::NotFoundError(message);
  return absl::UnavailableError(message);
}

bool WriteAll(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return fsync(descriptor) == 0;
}

// A name is on disk when its folder is.
void SyncFolderOf(const std::string& path) {
  const std::string folder = fs::path(path).parent_path();
  const int descriptor = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

// Those above the last are for all to look into. Whatever the umask says, nobody else may write to any.
absl::Status MakeFolders(const std::string& path, mode_t mode_of_last) {
  const fs::path whole = (fs::path(path) / "").parent_path();  // without slashes at the end
  fs::path folder;
  std::error_code error;
  for (const fs::path& part : whole) {
    folder /= part;
    const int made = mkdir(folder.c_str(), folder == whole ? mode_of_last : 0755);
    if (made != 0 && errno != EEXIST) error = std::error_code(errno, std::generic_category());
    if (error) break;
  }
  if (!error && !path.empty() && !IsFolder(path)) error = std::make_error_code(std::errc::not_a_directory);
  return StatusOf(error, "create the folder", path);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ListFolder(const std::string& path) {
  std::error_code error;
  std::vector<std::string> names;
  fs::directory_iterator entry(path, error);
  while (!error && entry != fs::directory_iterator()) {
    names.push_back(entry->path().filename());
    entry.increment(error);
  }
  if (error) return StatusOf(error, "read the folder", path);
  std::sort(names.begin(), names.end());
  return names;
}

bool IsFolder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

absl::Status CreateFolders(const std::string& path) { return MakeFolders(path, 0755); }

absl::Status CreatePrivateFolder(const std::string& path) { return MakeFolders(path, 0700); }

absl::Status RenameFile(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::rename(from, to, error);
  return StatusOf(error, StrCat("rename ", from, " to"), to);
}

absl::Status WriteFileAtomically(const std::string& path, const std::string& text) {
  const std::string fresh = path + ".new";
  {
    std::ofstream out(fresh, std::ios::binary | std::ios::trunc);
    out << text;
    out.flush();
    if (!out) return absl::UnavailableError(StrCat("cannot write ", fresh));
  }
  return RenameFile(fresh, path);
}

absl::Status WritePrivateFile(const std::string& path, std::string_view text) {
  const std::string fresh = path + ".new";
  if (absl::Status status = RemoveFile(fresh); !status.ok()) return status;
  const int descriptor = open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  int error = descriptor >= 0 && WriteAll(descriptor, text) ? 0 : errno;
  if (descriptor >= 0 && close(descriptor) != 0 && error == 0) error = errno;
  if (error != 0) return absl::UnavailableError(StrCat("cannot write ", fresh, ": ", ErrnoText(error)));
  absl::Status status = RenameFile(fresh, path);
  if (status.ok()) SyncFolderOf(path);
  return status;
}

absl::Status RemoveFile(const std::string& path) {
  std::error_code error;
  fs::remove(path, error);
  return StatusOf(error, "remove", path);
}

std::string CleanPath(const std::string& path) {
  std::string text = fs::path(path).lexically_normal();
  if (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

std::string AbsolutePath(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  if (error) return path;
  std::string text = absolute.lexically_normal();
  if (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

}  // namespace fairlead
