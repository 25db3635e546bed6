#include "source/ownership.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "config/entry_endpoints.h"

namespace fairlead::source {

using config::ConfigPtr;
using config::ObjectChange;
using config::ObjectKey;

const ConfigPtr* Ownership::Source::Find(const ObjectKey& key) const {
  const auto of_kind = objects.find(key.kind);
  if (of_kind == objects.end()) return nullptr;
  const auto it = of_kind->second.find(key);
  return it == of_kind->second.end() ? nullptr : &it->second;
}

size_t Ownership::AddSource(std::string name) {
  sources_.push_back({std::move(name), {}});
  return sources_.size() - 1;
}

bool Ownership::ChangesEndpointsAlone(size_t source, std::span<const ObjectChange> batch) const {
  return std::ranges::all_of(batch, [&owner = sources_[source]](const ObjectChange& change) {
    if (change.key.kind != config::Kind::kServiceEntry || change.object == nullptr) return false;
    const ConfigPtr* before = owner.Find(change.key);
    return before != nullptr && config::DifferInEndpointsAlone(**before, *change.object);
  });
}

std::vector<ObjectChange> Ownership::Change(size_t source, std::vector<ObjectChange> batch) {
  Source& owner = sources_[source];
  std::vector<ObjectChange> effective;
  effective.reserve(batch.size());
  for (ObjectChange& change : batch) {
    if (change.object != nullptr) {
      owner.objects[change.key.kind][change.key] = change.object;
    } else if (owner.objects[change.key.kind].erase(change.key) == 0) {
      continue;  // another source's, or nothing
    }
    const std::vector<const Source*> holders = HoldersOf(change.key);
    NoteHolders(change.key, holders.size());
    if (!holders.empty() && holders.front() < &owner) continue;
    if (change.object == nullptr && !holders.empty()) change.object = *holders.front()->Find(change.key);
    effective.push_back(std::move(change));
  }
  return effective;
}

std::vector<ObjectChange> Ownership::Replace(size_t source, config::Kind kind,
                                             const std::vector<ConfigPtr>& objects) {
  const Objects& known = sources_[source].objects[kind];
  std::vector<ObjectChange> batch;
  std::set<ObjectKey> listed;
  for (const ConfigPtr& object : objects) {
    const ObjectKey key = config::KeyOf(*object);
    listed.insert(key);
    const auto before = known.find(key);
    if (before == known.end() || before->second->content_hash() != object->content_hash())
      batch.push_back({key, object});
  }
  for (const auto& [key, object] : known) {
    if (!listed.contains(key)) batch.push_back({key, nullptr});
  }
  return Change(source, std::move(batch));
}

std::vector<const Ownership::Source*> Ownership::HoldersOf(const ObjectKey& key) const {
  std::vector<const Source*> holders;
  for (const Source& source : sources_) {
    if (source.Find(key) != nullptr) holders.push_back(&source);
  }
  return holders;
}

void Ownership::NoteHolders(const ObjectKey& key, size_t holders) {
  const bool changed = holders > 1 ? contested_.insert(key).second : contested_.erase(key) != 0;
  if (changed || holders > 1) ++revision_;
}

std::vector<config::Diagnostic> Ownership::Diagnostics() const {
  std::vector<config::Diagnostic> all;
  for (const ObjectKey& key : contested_) {
    const std::vector<const Source*> holders = HoldersOf(key);
    for (size_t i = 1; i < holders.size(); ++i) {
      const config::Origin& origin = (*holders[i]->Find(key))->origin();
      config::Diagnostic& diagnostic = all.emplace_back();
      diagnostic.severity = config::Severity::kWarning;
      diagnostic.code = "duplicate-object";
      diagnostic.file = origin.file.str();
      diagnostic.line = origin.line;
      diagnostic.object = key;
      diagnostic.message = StrCat("is not used: ", holders[i]->name, " has it, and so has ",
                                  holders.front()->name, ", which comes first");
    }
  }
  return all;
}

}  // namespace fairlead::source
