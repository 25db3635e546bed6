#ifndef FAIRLEAD_BASE_FILES_H_
#define FAIRLEAD_BASE_FILES_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// The file system without exceptions: the one place that uses the standard library's, whose iterators throw
// where a folder vanishes or cannot be read to its end, whatever their constructors were given. Messages name
// path and reason.
namespace fairlead {

// The names in a folder, sorted.
absl::StatusOr<std::vector<std::string>> ListFolder(const std::string& path);
bool IsFolder(const std::string& path);
// The folder and those above it; no error where they exist. What is made nobody but its owner may write to,
// whatever the umask.
absl::Status CreateFolders(const std::string& path);
// The same; the folder itself, where it is made, is for its owner alone (0700).
absl::Status CreatePrivateFolder(const std::string& path);
// Takes the place of a file that has the new name.
absl::Status RenameFile(const std::string& from, const std::string& to);
// Writes a file beside its place, then puts it there: readers see the old text or the new one, whole.
absl::Status WriteFileAtomically(const std::string& path, const std::string& text);
// The same for its owner alone (0600), and on disk when it returns. Links are not followed.
absl::Status WritePrivateFile(const std::string& path, std::string_view text);
// No error where there is no such file.
absl::Status RemoveFile(const std::string& path);
// "etc/proxy/a" for "./etc/proxy//a", as the shortest path to the same place. Looks at no file.
std::string CleanPath(const std::string& path);
// "/srv/out" for "out", "./out" and "../srv/out/"; the path itself where the current folder is not known.
std::string AbsolutePath(const std::string& path);

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_FILES_H_
