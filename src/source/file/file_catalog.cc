#include "source/file/file_catalog.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/strings.h"

namespace fairlead::source {

using config::ConfigPtr;
using config::Diagnostic;
using config::LostPolicy;
using config::ObjectKey;

namespace {

using Version = FileCatalog::Version;

// Of one file as many stale objects are named; that there are more is said.
constexpr size_t kMostNamed = 10;

bool IsBroken(const config::ParseResult& result, const ObjectKey& key) {
  return std::find(result.broken.begin(), result.broken.end(), key) != result.broken.end();
}

// The object as it was, at the place where it stands now.
ConfigPtr AtItsPlace(const ConfigPtr& before, const ConfigPtr& now) {
  const config::Origin &was = before->origin(), &is = now->origin();
  if (was.file == is.file && was.line == is.line && was.api_version == is.api_version) return before;
  if (now->status() != nullptr) return now;
  return std::make_shared<const config::ConfigObject>(now->kind(), now->meta(), now->origin(),
                                                      before->SharedSpec<void>(), now->content_hash());
}

// The file's present objects, then those of before that stay although they are not among them.
std::vector<Version> WithLastGood(const std::vector<Version>& before, config::ParseResult& result,
                                  bool unfinished, int64_t time) {
  absl::flat_hash_map<ObjectKey, const Version*> known;
  known.reserve(before.size());
  for (const Version& version : before) known.emplace(KeyOf(*version.object), &version);
  std::vector<Version> versions;
  versions.reserve(result.objects.size());
  for (ConfigPtr& object : result.objects) {
    const auto it = known.find(KeyOf(*object));
    if (it != known.end()) {
      if (it->second->object->content_hash() == object->content_hash())
        object = AtItsPlace(it->second->object, object);
      known.erase(it);
    }
    versions.push_back({std::move(object), time, false});
  }
  const bool keep_all = unfinished || result.unreadable;
  for (const Version& version : before) {
    const ObjectKey key = KeyOf(*version.object);
    const bool keep = keep_all || (result.empty && config::IsPolicyKind(key.kind)) || IsBroken(result, key);
    if (known.contains(key) && keep) versions.push_back({version.object, version.time, true});
  }
  return versions;
}

// Those of which no earlier version is served: by name, and of the others as many as there are more than
// policies of before.
std::vector<LostPolicy> WithoutLastGood(std::vector<LostPolicy> lost, const std::vector<Version>& versions) {
  std::vector<ObjectKey> served;
  for (const Version& version : versions) {
    const ObjectKey key = KeyOf(*version.object);
    if (version.stale && config::IsPolicyKind(key.kind)) served.push_back(key);
  }
  std::erase_if(lost, [&served](const LostPolicy& policy) {
    return std::erase_if(served, [&policy](const ObjectKey& key) {
             return key.ns.str() == policy.ns && key.name.str() == policy.name;
           }) > 0;
  });
  size_t left = served.size();
  std::erase_if(lost, [&left](const LostPolicy& policy) {
    const bool nameless = policy.guessed || policy.name.empty();
    return nameless && left > 0 && left-- > 0;
  });
  return lost;
}

Diagnostic UnreadablePolicy(const std::string& path, const LostPolicy& policy, bool denied) {
  Diagnostic diagnostic;
  diagnostic.code = config::kUnreadablePolicyCode;
  diagnostic.file = path;
  diagnostic.line = policy.line;
  const std::string whose =
      policy.narrow ? std::string("its workloads") : StrCat("the workloads of namespace ", policy.ns);
  diagnostic.message = StrCat(
      "the policy ", policy.ns, policy.name.empty() ? "" : "/", policy.name,
      " cannot be read and has no earlier version: ",
      denied ? StrCat("every request to ", whose, " is denied until it is mended") : "it is not in force");
  return diagnostic;
}

Diagnostic Emptied(const std::string& path) {
  Diagnostic diagnostic;
  diagnostic.code = "emptied-file";
  diagnostic.file = path;
  diagnostic.message = "nothing is left of the file; its policies stay in force until it is removed";
  return diagnostic;
}

// Where the file says something wrong about the object, or about nobody that one knows.
int LineOfMistake(const std::vector<Diagnostic>& diagnostics, const ObjectKey& key) {
  int line = 0;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity != config::Severity::kError) continue;
    if (diagnostic.object == key) return diagnostic.line;
    if (!diagnostic.object && line == 0) line = diagnostic.line;
  }
  return line;
}

// That objects of before are served, added to what is wrong with the file.
void AddStale(const std::string& path, const std::vector<Version>& versions,
              std::vector<Diagnostic>* diagnostics) {
  size_t named = 0, stale = 0;
  for (const Version& version : versions) stale += version.stale ? 1 : 0;
  for (const Version& version : versions) {
    if (!version.stale) continue;
    Diagnostic diagnostic = config::ServingEarlier(path, version.time);
    const ObjectKey key = KeyOf(*version.object);
    diagnostic.line = LineOfMistake(*diagnostics, key);
    if (named == kMostNamed) {
      diagnostic.message = StrCat("serving earlier versions of ", stale - named, " more objects");
    } else {
      diagnostic.object = key;
    }
    diagnostics->push_back(std::move(diagnostic));
    if (named++ == kMostNamed) return;
  }
}

bool HasErrors(const std::vector<Diagnostic>& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& one) { return one.severity == config::Severity::kError; });
}

}  // namespace

void FileCatalog::SetVersions(FileEntry& entry, std::vector<Version> versions) {
  File& file = entry.second;
  for (const Version& version : file.versions) {
    Drop(entry, version.object);
    stale_ -= version.stale ? 1 : 0;
  }
  for (const Version& version : versions) {
    Add(entry, version.object);
    stale_ += version.stale ? 1 : 0;
  }
  versions_ = versions_ - file.versions.size() + versions.size();
  file.versions = std::move(versions);
}

// REQUIRES: versions are set.
void FileCatalog::SetLost(FileEntry& entry, std::vector<LostPolicy> lost) {
  File& file = entry.second;
  const bool denied = lost_policies_ == LostPolicies::kDenied;
  lost_ -= file.lost.size();
  for (const LostPolicy& policy : file.lost) {
    if (denied) Drop(entry, policy.denial);
  }
  file.lost = WithoutLastGood(std::move(lost), file.versions);
  lost_ += file.lost.size();
  for (const LostPolicy& policy : file.lost) {
    if (denied) Add(entry, policy.denial);
    file.diagnostics.push_back(UnreadablePolicy(entry.first, policy, denied));
  }
}

void FileCatalog::Put(const std::string& path, config::ParseResult result, bool unfinished, int64_t time) {
  FileEntry& entry = *files_.try_emplace(path).first;
  std::vector<Version> before = entry.second.versions;
  AddInForce(result, &before);
  SetVersions(entry, WithLastGood(before, result, unfinished, time));
  entry.second.diagnostics = std::move(result.diagnostics);
  SetLost(entry, std::move(result.lost_policies));
  if (result.empty && !unfinished && !entry.second.versions.empty())
    entry.second.diagnostics.push_back(Emptied(path));
  // What is missing from a text that somebody still writes will come.
  if (HasErrors(entry.second.diagnostics)) AddStale(path, entry.second.versions, &entry.second.diagnostics);
}

// A broken object may have come from a file that was renamed.
void FileCatalog::AddInForce(const config::ParseResult& result, std::vector<Version>* before) const {
  for (const ObjectKey& key : result.broken) {
    const bool known = std::any_of(before->begin(), before->end(),
                                   [&](const Version& version) { return KeyOf(*version.object) == key; });
    const auto object = objects_.find(key);
    if (!known && object != objects_.end() && object->second.told != nullptr)
      before->push_back({object->second.told, 0, true});
  }
}

void FileCatalog::Restore(const std::string& path, const std::vector<Version>& versions) {
  SetVersions(*files_.try_emplace(path).first, versions);
}

void FileCatalog::Remove(const std::string& path) {
  const auto it = files_.find(path);
  if (it == files_.end()) return;
  for (const Version& version : it->second.versions) {
    Object& object = objects_[KeyOf(*version.object)];
    if (object.told_file == &*it) object.told_file = nullptr;
  }
  SetVersions(*it, {});
  SetLost(*it, {});
  files_.erase(it);
}

void FileCatalog::SetUnreadable(const std::string& path, std::string message) {
  Diagnostic diagnostic;
  diagnostic.code = "unreadable-file";
  diagnostic.file = path;
  diagnostic.message = std::move(message);
  FileEntry& entry = *files_.try_emplace(path).first;
  std::vector<Version> versions = entry.second.versions;
  for (Version& version : versions) version.stale = true;
  SetVersions(entry, std::move(versions));
  entry.second.diagnostics = {std::move(diagnostic)};
  SetLost(entry, std::vector<LostPolicy>(entry.second.lost));
  AddStale(path, entry.second.versions, &entry.second.diagnostics);
}

const std::vector<Version>& FileCatalog::VersionsOf(const std::string& path) const {
  static const auto* none = new std::vector<Version>;
  const auto it = files_.find(path);
  return it == files_.end() ? *none : it->second.versions;
}

std::vector<std::string> FileCatalog::Paths() const {
  std::vector<std::string> paths;
  paths.reserve(files_.size());
  for (const auto& [path, file] : files_) {
    if (!file.versions.empty() || !file.diagnostics.empty()) paths.push_back(path);
  }
  return paths;
}

void FileCatalog::Add(const FileEntry& file, const ConfigPtr& object) {
  const ObjectKey key = KeyOf(*object);
  auto& holders = objects_[key].holders;
  const auto later = std::find_if(holders.begin(), holders.end(),
                                  [&](const Holder& other) { return file.first < other.file->first; });
  holders.insert(later, {&file, object});
  if (holders.size() > 1) contested_.insert(key);
  touched_.insert(key);
}

void FileCatalog::Drop(const FileEntry& file, const ConfigPtr& object) {
  const ObjectKey key = KeyOf(*object);
  auto& holders = objects_[key].holders;
  const auto own =
      std::find_if(holders.begin(), holders.end(), [&](const Holder& other) { return other.file == &file; });
  if (own != holders.end()) holders.erase(own);
  if (holders.size() < 2) contested_.erase(key);
  touched_.insert(key);
}

size_t FileCatalog::Winner(const Object& object) {
  const auto& holders = object.holders;
  const auto told = std::find_if(holders.begin(), holders.end(),
                                 [&](const Holder& holder) { return holder.file == object.told_file; });
  return told == holders.end() ? 0 : static_cast<size_t>(told - holders.begin());
}

std::vector<config::ObjectChange> FileCatalog::TakeChanges() {
  std::vector<config::ObjectChange> changes;
  for (const ObjectKey& key : touched_) {
    const auto it = objects_.find(key);
    Object& object = it->second;
    const Holder counts = object.holders.empty() ? Holder{} : object.holders[Winner(object)];
    const ConfigPtr now = counts.object;
    if (now != object.told) changes.push_back({key, now});
    object.told = now;
    object.told_file = counts.file;
    if (now == nullptr) objects_.erase(it);
  }
  touched_.clear();
  std::sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  return changes;
}

std::vector<Diagnostic> FileCatalog::Diagnostics(
    const std::function<bool(const std::string& path)>& is_there) const {
  std::map<std::string_view, std::vector<Diagnostic>> duplicates;
  for (const ObjectKey& key : contested_) {
    const Object& object = objects_.at(key);
    const Holder& winner = object.holders[Winner(object)];
    if (!is_there(winner.file->first) || config::IsDenialOfLost(key)) continue;
    for (const Holder& loser : object.holders) {
      if (loser.file == winner.file || !is_there(loser.file->first)) continue;
      Diagnostic diagnostic;
      diagnostic.code = "duplicate-object";
      diagnostic.file = loser.file->first;
      diagnostic.line = loser.object->origin().line;
      diagnostic.object = key;
      diagnostic.message = StrCat("the same object is in ", winner.file->first, ":",
                                  winner.object->origin().line, ", which counts");
      duplicates[loser.file->first].push_back(std::move(diagnostic));
    }
  }
  std::vector<Diagnostic> all;
  for (const auto& [path, file] : files_) {
    all.insert(all.end(), file.diagnostics.begin(), file.diagnostics.end());
    const auto it = duplicates.find(path);
    if (it == duplicates.end()) continue;
    std::sort(it->second.begin(), it->second.end(), [](const Diagnostic& a, const Diagnostic& b) {
      return std::tie(a.line, *a.object) < std::tie(b.line, *b.object);
    });
    all.insert(all.end(), it->second.begin(), it->second.end());
  }
  return all;
}

}  // namespace fairlead::source
