#include "source/file/file_catalog.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"

namespace fairlead::source {

using config::ConfigPtr;
using config::Diagnostic;
using config::ObjectKey;

std::vector<ConfigPtr> FileCatalog::WithLastGood(const File& before, config::ParseResult& result,
                                                 bool unfinished) const {
  absl::flat_hash_map<ObjectKey, ConfigPtr> known;
  known.reserve(before.objects.size());
  for (const ConfigPtr& object : before.objects) known.emplace(KeyOf(*object), object);
  std::vector<ConfigPtr> objects;
  objects.reserve(result.objects.size());
  for (ConfigPtr& object : result.objects) {
    const auto it = known.find(KeyOf(*object));
    if (it != known.end()) {
      if (it->second->content_hash() == object->content_hash()) object = it->second;
      known.erase(it);
    }
    objects.push_back(std::move(object));
  }
  const bool keep_all = unfinished || result.unreadable;
  for (const ConfigPtr& object : before.objects) {
    const bool missing = known.contains(KeyOf(*object));
    const bool broken =
        std::find(result.broken.begin(), result.broken.end(), KeyOf(*object)) != result.broken.end();
    if (missing && (keep_all || broken)) objects.push_back(object);
  }
  return objects;
}

void FileCatalog::Put(const std::string& path, config::ParseResult result, bool unfinished) {
  FileEntry& entry = *files_.try_emplace(path).first;
  File& file = entry.second;
  std::vector<ConfigPtr> objects = WithLastGood(file, result, unfinished);
  for (const ConfigPtr& object : file.objects) Drop(entry, object);
  for (const ConfigPtr& object : objects) Add(entry, object);
  file.objects = std::move(objects);
  file.diagnostics = std::move(result.diagnostics);
}

void FileCatalog::Remove(const std::string& path) {
  const auto it = files_.find(path);
  if (it == files_.end()) return;
  for (const ConfigPtr& object : it->second.objects) Drop(*it, object);
  files_.erase(it);
}

void FileCatalog::SetUnreadable(const std::string& path, std::string message) {
  Diagnostic diagnostic;
  diagnostic.code = "unreadable-file";
  diagnostic.file = path;
  diagnostic.message = std::move(message);
  files_[path].diagnostics = {std::move(diagnostic)};
}

void FileCatalog::Add(const FileEntry& file, const ConfigPtr& object) {
  const ObjectKey key = KeyOf(*object);
  auto& versions = objects_[key].versions;
  const auto later = std::find_if(versions.begin(), versions.end(),
                                  [&](const Version& other) { return file.first < other.file->first; });
  versions.insert(later, {&file, object});
  if (versions.size() > 1) contested_.insert(key);
  touched_.insert(key);
}

void FileCatalog::Drop(const FileEntry& file, const ConfigPtr& object) {
  const ObjectKey key = KeyOf(*object);
  auto& versions = objects_[key].versions;
  const auto own = std::find_if(versions.begin(), versions.end(),
                                [&](const Version& other) { return other.file == &file; });
  if (own != versions.end()) versions.erase(own);
  if (versions.size() < 2) contested_.erase(key);
  touched_.insert(key);
}

std::vector<config::ObjectChange> FileCatalog::TakeChanges() {
  std::vector<config::ObjectChange> changes;
  for (const ObjectKey& key : touched_) {
    const auto it = objects_.find(key);
    Object& object = it->second;
    const ConfigPtr now = object.versions.empty() ? nullptr : object.versions.front().object;
    if (now != object.told) changes.push_back({key, now});
    object.told = now;
    if (now == nullptr) objects_.erase(it);
  }
  touched_.clear();
  std::sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  return changes;
}

std::vector<Diagnostic> FileCatalog::Diagnostics() const {
  std::map<std::string_view, std::vector<Diagnostic>> duplicates;
  for (const ObjectKey& key : contested_) {
    const auto& versions = objects_.at(key).versions;
    for (size_t i = 1; i < versions.size(); ++i) {
      const Version &winner = versions.front(), &loser = versions[i];
      Diagnostic diagnostic;
      diagnostic.code = "duplicate-object";
      diagnostic.file = loser.file->first;
      diagnostic.line = loser.object->origin().line;
      diagnostic.object = key;
      diagnostic.message = StrCat("the same object is in ", winner.file->first, ":",
                                  winner.object->origin().line, ", which counts since its path comes first");
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
