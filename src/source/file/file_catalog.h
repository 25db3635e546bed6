#ifndef FAIRLEAD_SOURCE_FILE_FILE_CATALOG_H_
#define FAIRLEAD_SOURCE_FILE_FILE_CATALOG_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "config/diagnostic.h"
#include "config/lost_policy.h"
#include "config/object.h"
#include "config/read/manifests.h"

namespace fairlead::source {

// Which objects a set of files holds. Knows for each file what it last said and well, and which file's
// version counts where several have the same object: that of the file whose version counts already, so that a
// stray copy changes nothing; else of the first path in lexical order. Policies that cannot be read and have
// no earlier version are an error each and, where it is told to deny, an object that denies requests in their
// place. Does no I/O. One thread at a time.
class FileCatalog {
 public:
  enum class LostPolicies : uint8_t { kServed, kDenied };
  explicit FileCatalog(LostPolicies lost_policies = LostPolicies::kServed) : lost_policies_(lost_policies) {}

  // An object as its file had it when it was written at `time`, in Unix seconds; 0: not known.
  struct Version {
    config::ConfigPtr object;
    int64_t time = 0;
    bool stale = false;  // the file has another one now, or one that cannot be read
  };

  // What the file, as it was written at `time`, now says. Objects that are there but broken keep their last
  // good version, with a diagnostic; so do absent ones where the text is `unfinished` or a part of it could
  // not be read, and policies where nothing is left of the text. An object with the content of before keeps
  // its pointer; one that stands elsewhere by now is another object with the same content, shared.
  void Put(const std::string& path, config::ParseResult result, bool unfinished, int64_t time = 0);
  // What a file that the catalog does not know yet once said.
  void Restore(const std::string& path, const std::vector<Version>& versions);
  // The file is gone, and its objects with it.
  void Remove(const std::string& path);
  // The file cannot be read at the moment; its objects stay.
  void SetUnreadable(const std::string& path, std::string message);

  // What changed since the last call, in the order of the keys; an object that is as it was is not among it.
  std::vector<config::ObjectChange> TakeChanges();
  // Everything that is wrong now, in the order of the paths: the files' own, and objects that several files
  // have which are there: one that was renamed may not have been told to be gone yet.
  std::vector<config::Diagnostic> Diagnostics(
      const std::function<bool(const std::string& path)>& is_there) const;

  // The file's objects, stale ones last.
  const std::vector<Version>& VersionsOf(const std::string& path) const;
  // All files that hold something or have a diagnostic.
  std::vector<std::string> Paths() const;
  size_t files() const { return files_.size(); }
  size_t objects() const { return objects_.size(); }
  size_t versions() const { return versions_; }  // of all files' objects
  size_t stale() const { return stale_; }
  // Policies that cannot be read and have no earlier version.
  size_t lost() const { return lost_; }

 private:
  struct File {
    std::vector<Version> versions;
    std::vector<config::LostPolicy> lost;
    std::vector<config::Diagnostic> diagnostics;
  };
  using FileEntry = std::pair<const std::string, File>;  // of files_, whose nodes stay where they are
  struct Holder {
    const FileEntry* file;
    config::ConfigPtr object;
  };
  struct Object {
    absl::InlinedVector<Holder, 1> holders;  // in the order of the paths
    config::ConfigPtr told;                  // by TakeChanges, the last time
    const FileEntry* told_file = nullptr;    // that it was of; null where it is no more
  };

  // The holder whose version counts. REQUIRES: it has holders.
  static size_t Winner(const Object& object);
  void AddInForce(const config::ParseResult& result, std::vector<Version>* before) const;
  void SetVersions(FileEntry& entry, std::vector<Version> versions);
  void SetLost(FileEntry& entry, std::vector<config::LostPolicy> lost);
  void Add(const FileEntry& file, const config::ConfigPtr& object);
  void Drop(const FileEntry& file, const config::ConfigPtr& object);

  const LostPolicies lost_policies_;
  std::map<std::string, File> files_;
  absl::flat_hash_map<config::ObjectKey, Object> objects_;
  absl::flat_hash_set<config::ObjectKey> touched_;    // since the last TakeChanges
  absl::flat_hash_set<config::ObjectKey> contested_;  // in several files
  size_t versions_ = 0, stale_ = 0, lost_ = 0;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_FILE_FILE_CATALOG_H_
