#include "config/store.h"

namespace fairlead::config {

std::vector<ObjectChange> ObjectStore::Apply(std::span<const ObjectChange> changes) {
  std::vector<ObjectChange> effective;
  for (const ObjectChange& change : changes) {
    ByName& objects = objects_[static_cast<size_t>(change.key.kind)];
    const auto key = std::make_pair(change.key.ns, change.key.name);
    auto it = objects.find(key);
    if (change.object == nullptr) {
      if (it == objects.end()) continue;
      objects.erase(it);
    } else if (it == objects.end()) {
      objects.emplace(key, change.object);
    } else {
      if (it->second == change.object || it->second->content_hash() == change.object->content_hash())
        continue;
      it->second = change.object;
    }
    ++revisions_[static_cast<size_t>(change.key.kind)];
    effective.push_back(change);
  }
  return effective;
}

ConfigPtr ObjectStore::Find(Kind kind, const Interned& ns, const Interned& name) const {
  const ByName& objects = All(kind);
  auto it = objects.find({ns, name});
  return it == objects.end() ? nullptr : it->second;
}

size_t ObjectStore::size() const {
  size_t total = 0;
  for (const ByName& objects : objects_) total += objects.size();
  return total;
}

}  // namespace fairlead::config
