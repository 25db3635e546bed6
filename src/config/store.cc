#include "config/store.h"

#include <algorithm>

namespace fairlead::config {

std::vector<ObjectChange> ObjectStore::Apply(std::span<const ObjectChange> changes) {
  std::vector<ObjectChange> effective;
  for (const ObjectChange& change : changes) {
    const Interned& cluster = change.key.cluster;
    const size_t kind = static_cast<size_t>(change.key.kind);
    const auto key = std::make_pair(change.key.ns, change.key.name);
    const ConfigPtr* before = All(change.key.kind, cluster).Find(key);
    if (change.object == nullptr
            ? before == nullptr
            : before != nullptr &&
                  (*before == change.object || (*before)->content_hash() == change.object->content_hash())) {
      continue;
    }
    Kinds& kinds = cluster.empty() ? own_ : others_[cluster];
    if (change.object != nullptr) {
      kinds[kind].Set(key, change.object);
    } else {
      kinds[kind].Erase(key);
      const auto empty = [](const ByName& of) { return of.empty(); };
      if (!cluster.empty() && std::all_of(kinds.begin(), kinds.end(), empty)) others_.erase(cluster);
    }
    if (cluster.empty()) ++revisions_[kind];
    effective.push_back(change);
  }
  return effective;
}

const ObjectStore::ByName& ObjectStore::All(Kind kind, const Interned& cluster) const {
  static const auto* none = new ByName();
  if (cluster.empty()) return All(kind);
  const auto of_cluster = others_.find(cluster);
  return of_cluster == others_.end() ? *none : of_cluster->second[static_cast<size_t>(kind)];
}

ConfigPtr ObjectStore::Find(Kind kind, const Interned& ns, const Interned& name,
                            const Interned& cluster) const {
  const ConfigPtr* object = All(kind, cluster).Find({ns, name});
  return object == nullptr ? nullptr : *object;
}

std::vector<Interned> ObjectStore::OtherClusters() const {
  std::vector<Interned> clusters;
  clusters.reserve(others_.size());
  for (const auto& [cluster, kinds] : others_) clusters.push_back(cluster);
  return clusters;
}

size_t ObjectStore::size() const {
  size_t total = 0;
  for (const ByName& objects : own_) total += objects.size();
  for (const auto& [cluster, kinds] : others_) {
    for (const ByName& objects : kinds) total += objects.size();
  }
  return total;
}

}  // namespace fairlead::config
