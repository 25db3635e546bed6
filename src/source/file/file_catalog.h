#ifndef FAIRLEAD_SOURCE_FILE_FILE_CATALOG_H_
#define FAIRLEAD_SOURCE_FILE_FILE_CATALOG_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "config/diagnostic.h"
#include "config/manifests.h"
#include "config/object.h"

namespace fairlead::source {

// Which objects a set of files holds. Knows for each file what it last said and well, and which file's
// version counts where several have the same object: that of the first path in lexical order. Does no I/O.
// One thread at a time.
class FileCatalog {
 public:
  // What the file now says. Objects that are there but broken keep their last good version; so do absent ones
  // where the text is `unfinished` or a part of it could not be read. An object with the content of before
  // keeps its pointer.
  void Put(const std::string& path, config::ParseResult result, bool unfinished);
  // The file is gone, and its objects with it.
  void Remove(const std::string& path);
  // The file cannot be read at the moment; its objects stay.
  void SetUnreadable(const std::string& path, std::string message);

  // What changed since the last call, in the order of the keys; an object that is as it was is not among it.
  std::vector<config::ObjectChange> TakeChanges();
  // Everything that is wrong now, in the order of the paths: the files' own, and objects that several files
  // have.
  std::vector<config::Diagnostic> Diagnostics() const;

  size_t files() const { return files_.size(); }
  size_t objects() const { return objects_.size(); }

 private:
  struct File {
    std::vector<config::ConfigPtr> objects;
    std::vector<config::Diagnostic> diagnostics;
  };
  using FileEntry = std::pair<const std::string, File>;  // of files_, whose nodes stay where they are
  struct Version {
    const FileEntry* file;
    config::ConfigPtr object;
  };
  struct Object {
    absl::InlinedVector<Version, 1> versions;  // the one that counts first
    config::ConfigPtr told;                    // by TakeChanges, the last time
  };

  std::vector<config::ConfigPtr> WithLastGood(const File& before, config::ParseResult& result,
                                              bool unfinished) const;
  void Add(const FileEntry& file, const config::ConfigPtr& object);
  void Drop(const FileEntry& file, const config::ConfigPtr& object);

  std::map<std::string, File> files_;
  absl::flat_hash_map<config::ObjectKey, Object> objects_;
  absl::flat_hash_set<config::ObjectKey> touched_;    // since the last TakeChanges
  absl::flat_hash_set<config::ObjectKey> contested_;  // in several files
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_FILE_FILE_CATALOG_H_
