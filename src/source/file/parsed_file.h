#ifndef FAIRLEAD_SOURCE_FILE_PARSED_FILE_H_
#define FAIRLEAD_SOURCE_FILE_PARSED_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/hash.h"
#include "config/read/manifests.h"
#include "source/file/file_catalog.h"
#include "source/file/folder_watcher.h"
#include "source/file/last_good.h"

// From a file, or from what is kept of one, to objects.
namespace fairlead::source {

struct ParsedFile {
  config::ParseResult result;
  int64_t time = 0;  // Unix seconds: when it was written
  Hash128 text = {};
  bool to_keep = false;  // it differs from what is kept of it

  // All in it is good.
  bool IsWhole() const { return !result.unreadable && result.broken.empty(); }
};

// `kept` may be null.
absl::StatusOr<ParsedFile> ParseFile(const std::string& path, const LastGood* kept);

// In the order of the changes; nothing for files that are gone.
using ParsedFiles = std::vector<std::optional<absl::StatusOr<ParsedFile>>>;
// With so many threads at most: each takes one file after another, and there are fewer where the system has
// no more to give.
ParsedFiles ParseAll(const std::vector<FileChange>& changes, int threads, const LastGood* kept);

// What was good and no longer is, by a change of the rules or because it was damaged, is left out.
std::vector<FileCatalog::Version> VersionsOf(const GoodFile& file);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_FILE_PARSED_FILE_H_
