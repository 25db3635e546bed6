#ifndef FAIRLEAD_STATE_MESH_H_
#define FAIRLEAD_STATE_MESH_H_

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "config/diagnostic.h"
#include "config/object.h"
#include "config/store.h"
#include "mesh/builder.h"
#include "mesh/snapshot.h"
#include "model/key_sets.h"
#include "model/settings.h"
#include "model/trust_bundle.h"
#include "registry/registry.h"
#include "state/derivation.h"

namespace fairlead::state {

// A whole mesh: its objects, what the registries make of them, and the snapshot of it all. A value: a copy is
// a second mesh that costs little, shares what it has in common with the original, and is changed apart from
// it; snapshots of both share what is the same in both. A change costs its own size. Not thread-safe; copies
// may be used by different threads.
class Mesh {
 public:
  struct Change {
    std::vector<config::ObjectChange> objects;  // of those that are written: what really changed
    std::vector<StatusWrite> statuses;          // for the owner of the live mesh to hand on
    mesh::SnapshotPtr snapshot;                 // the new one; null where nothing changed
  };

  // `derivations` run in this order.
  explicit Mesh(std::vector<std::unique_ptr<Derivation>> derivations = {});
  Mesh(const Mesh& other);
  Mesh& operator=(const Mesh&) = delete;

  // `settings` null: as they were. REQUIRES: the first call has settings.
  Change Apply(std::span<const config::ObjectChange> changes, const model::SettingsPtr& settings);
  // The key sets that RequestAuthentications refer to, as far as they are known: part of the next Apply.
  void SetKeySets(model::KeySetsPtr key_sets) { key_sets_ = std::move(key_sets); }
  // What agents are told to trust: part of the next Apply.
  void SetTrustBundle(model::TrustBundlePtr trust_bundle) { trust_bundle_ = std::move(trust_bundle); }

  // The objects as sources handed them over.
  const config::ObjectStore& written() const { return written_; }
  // With those that were made of them.
  const config::ObjectStore& objects() const { return objects_; }
  const model::SettingsPtr& settings() const { return settings_; }
  // Null before the first Apply.
  const mesh::SnapshotPtr& snapshot() const { return snapshot_; }
  // Problems that come to light only when objects meet, as they are now.
  std::vector<config::Diagnostic> Diagnostics() const;

 private:
  std::vector<config::ObjectChange> Derive(std::vector<config::ObjectChange> changed,
                                           std::vector<StatusWrite>* statuses);
  std::vector<config::ObjectChange> Show(std::span<const config::ObjectChange> changed);

  std::vector<std::unique_ptr<Derivation>> derivations_;
  config::ObjectStore written_;
  std::vector<config::ObjectStore> derived_;  // by each step
  config::ObjectStore amended_;  // in place of what is written; by any step, the last one's counts
  config::ObjectStore objects_;  // what is written, else what the last step made
  model::SettingsPtr settings_;
  model::KeySetsPtr key_sets_;
  model::TrustBundlePtr trust_bundle_;
  registry::Registries registries_;
  std::unique_ptr<mesh::SnapshotBuilder> builder_;  // null before the first settings
  mesh::SnapshotPtr snapshot_;
};

}  // namespace fairlead::state

#endif  // FAIRLEAD_STATE_MESH_H_
