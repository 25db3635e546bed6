#ifndef FAIRLEAD_SOURCE_FILE_FOLDER_SCANNER_H_
#define FAIRLEAD_SOURCE_FILE_FOLDER_SCANNER_H_

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::source {

// What tells a file's versions apart without reading it.
struct Fingerprint {
  uint64_t device = 0, inode = 0, size = 0;
  int64_t modified_ns = 0, changed_ns = 0;
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

struct FileInfo {
  Fingerprint fingerprint;
  bool symlink = false;
};

// A file or folder that cannot be read, or not as well as it should be.
struct PathProblem {
  std::string path;
  std::string message;
  bool warning = false;
  friend bool operator==(const PathProblem&, const PathProblem&) = default;
};

struct FolderListing {
  std::map<std::string, FileInfo> files;  // by path: the folder's as given, then names
  std::set<std::string> folder_links;     // links to folders, also such as are passed over
  std::vector<PathProblem> problems;
  bool missing = false;  // there is no such folder
};

struct ScanOptions {
  bool recursive = true;
  std::function<bool(std::string_view name)> wants;             // of a file
  std::function<void(const std::string& path)> on_folder;       // before a folder is listed; may be empty
  std::function<void(const std::string& path)> on_link_target;  // the folder that a link to a file ends in
};

// Lists the files of a folder that are wanted. Folders whose name begins with a dot are passed over: version
// control's own, and the versions behind a Kubernetes volume's links ("..data"). Links are followed; a folder
// that can be reached twice is listed once, under the path that comes first.
FolderListing ScanFolder(const std::string& folder, const ScanOptions& options);

// Follows links; nothing where there is no regular file.
bool StatFile(const std::string& path, FileInfo* info);

// Whether something has this name that is no file, and hides one maybe: a link that leads nowhere, a folder.
bool IsBlocked(const std::string& path);

// The folder that a path lies in: "a/b" -> "a", "a" -> ".", "/a" -> "/".
std::string ParentOf(const std::string& path);
std::string_view BaseName(std::string_view path);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_FILE_FOLDER_SCANNER_H_
