#ifndef FAIRLEAD_TESTS_CORPUS_MESH_OF_OBJECTS_H_
#define FAIRLEAD_TESTS_CORPUS_MESH_OF_OBJECTS_H_

#include <set>
#include <utility>
#include <vector>

#include "config/store.h"
#include "mesh/builder.h"
#include "registry/registry.h"

namespace fairlead::corpus {

// Store, registries and snapshot builder wired as the mesh thread wires them, without thread or debounce.
class MeshOfObjects {
 public:
  explicit MeshOfObjects(model::SettingsPtr settings) : settings_(std::move(settings)), builder_(settings_) {}

  mesh::SnapshotPtr Apply(const std::vector<config::ConfigPtr>& objects) { return Build(Changes(objects)); }
  mesh::SnapshotPtr Remove(const config::ConfigPtr& object) {
    return Build({{config::KeyOf(*object), nullptr}});
  }
  // All objects and settings are replaced, in one change.
  mesh::SnapshotPtr Become(const std::vector<config::ConfigPtr>& objects, model::SettingsPtr settings) {
    auto changes = Changes(objects);
    std::set<config::ObjectKey> kept;
    for (const config::ObjectChange& change : changes) kept.insert(change.key);
    for (const config::KindInfo& kind : config::AllKinds()) {
      for (const auto& [name, object] : store_.All(kind.kind)) {
        const config::ObjectKey key = config::KeyOf(*object);
        if (!kept.contains(key)) changes.push_back({key, nullptr});
      }
    }
    settings_ = std::move(settings);
    builder_.SetSettings(settings_);
    return Build(changes);
  }
  // How many of these objects differ from what is there.
  size_t CountChanges(const std::vector<config::ConfigPtr>& objects) {
    const auto changes = Changes(objects);
    return store_.Apply(changes).size();
  }

 private:
  static std::vector<config::ObjectChange> Changes(const std::vector<config::ConfigPtr>& objects) {
    std::vector<config::ObjectChange> changes;
    for (const config::ConfigPtr& object : objects) changes.push_back({config::KeyOf(*object), object});
    return changes;
  }
  mesh::SnapshotPtr Build(const std::vector<config::ObjectChange>& changes) {
    const auto effective = store_.Apply(changes);
    return builder_.Build(store_, registries_.Apply(store_, effective, settings_));
  }

  model::SettingsPtr settings_;
  config::ObjectStore store_;
  registry::Registries registries_;
  mesh::SnapshotBuilder builder_;
};

}  // namespace fairlead::corpus

#endif  // FAIRLEAD_TESTS_CORPUS_MESH_OF_OBJECTS_H_
