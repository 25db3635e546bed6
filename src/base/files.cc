#include "base/files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

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

absl::Status CreateFolders(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  return StatusOf(error, "create the folder", path);
}

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

absl::Status RemoveFile(const std::string& path) {
  std::error_code error;
  fs::remove(path, error);
  return StatusOf(error, "remove", path);
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
