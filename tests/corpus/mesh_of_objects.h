#ifndef FAIRLEAD_TESTS_CORPUS_MESH_OF_OBJECTS_H_
#define FAIRLEAD_TESTS_CORPUS_MESH_OF_OBJECTS_H_

#include <set>
#include <utility>
#include <vector>

#include "app/derivations.h"
#include "config/store.h"
#include "state/mesh.h"

namespace fairlead::corpus {

// The mesh of the control loop, derived objects included, without thread or debounce.
class MeshOfObjects {
 public:
  explicit MeshOfObjects(const model::SettingsPtr& settings) : mesh_(app::MakeDerivations()) {
    mesh_.Apply({}, settings);
  }

  mesh::SnapshotPtr Apply(const std::vector<config::ConfigPtr>& objects) { return Build(Changes(objects)); }
  mesh::SnapshotPtr Remove(const config::ConfigPtr& object) {
    return Build({{config::KeyOf(*object), nullptr}});
  }
  // All objects and settings are replaced, in one change.
  mesh::SnapshotPtr Become(const std::vector<config::ConfigPtr>& objects,
                           const model::SettingsPtr& settings) {
    auto changes = Changes(objects);
    std::set<config::ObjectKey> kept;
    for (const config::ObjectChange& change : changes) kept.insert(change.key);
    for (const config::KindInfo& kind : config::AllKinds()) {
      for (const auto& [name, object] : mesh_.written().All(kind.kind)) {
        const config::ObjectKey key = config::KeyOf(*object);
        if (!kept.contains(key)) changes.push_back({key, nullptr});
      }
    }
    mesh_.Apply(changes, settings);
    return mesh_.snapshot();
  }
  // How many of these objects differ from what is there.
  size_t CountChanges(const std::vector<config::ConfigPtr>& objects) {
    config::ObjectStore store = mesh_.written();
    return store.Apply(Changes(objects)).size();
  }

 private:
  static std::vector<config::ObjectChange> Changes(const std::vector<config::ConfigPtr>& objects) {
    std::vector<config::ObjectChange> changes;
    changes.reserve(objects.size());
    for (const config::ConfigPtr& object : objects) changes.push_back({config::KeyOf(*object), object});
    return changes;
  }
  mesh::SnapshotPtr Build(const std::vector<config::ObjectChange>& changes) {
    mesh_.Apply(changes, nullptr);
    return mesh_.snapshot();
  }

  state::Mesh mesh_;
};

}  // namespace fairlead::corpus

#endif  // FAIRLEAD_TESTS_CORPUS_MESH_OF_OBJECTS_H_
