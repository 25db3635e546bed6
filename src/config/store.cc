#include "config/store.h"

namespace fairlead::config {

std::vector<ObjectChange> ObjectStore::Apply(std::span<const ObjectChange> changes) {
  std::vector<ObjectChange> effective;
  for (const ObjectChange& change : changes) {
    ByName& objects = objects_[static_cast<size_t>(change.key.kind)];
    const auto key = std::make_pair(change.key.ns, change.key.name);
    const ConfigPtr* before = objects.Find(key);
    if (change.object == nullptr) {
      if (before == nullptr) continue;
      objects.Erase(key);
    } else {
      if (before != nullptr &&
          (*before == change.object || (*before)->content_hash() == change.object->content_hash()))
        continue;
      objects.Set(key, change.object);
    }
    ++revisions_[static_cast<size_t>(change.key.kind)];
    effective.push_back(change);
  }
  return effective;
}

ConfigPtr ObjectStore::Find(Kind kind, const Interned& ns, const Interned& name) const {
  const ConfigPtr* object = All(kind).Find({ns, name});
  return object == nullptr ? nullptr : *object;
}

size_t ObjectStore::size() const {
  size_t total = 0;
  for (const ByName& objects : objects_) total += objects.size();
  return total;
}

}  // namespace fairlead::config
