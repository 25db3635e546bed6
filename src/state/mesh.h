#ifndef FAIRLEAD_STATE_MESH_H_
#define FAIRLEAD_STATE_MESH_H_

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/sorted_map.h"
#include "config/diagnostic.h"
#include "config/diagnostic_list.h"
#include "config/object.h"
#include "config/store.h"
#include "mesh/builder.h"
#include "mesh/index/snapshot.h"
#include "model/facts.h"
#include "model/settings.h"
#include "registry/registry.h"
#include "state/derivation.h"
#include "state/mesh_objects.h"

namespace fairlead::state {

// A whole mesh: its objects, what the registries make of them, and the snapshot of it all. A value: a copy is
// a second mesh that costs little, shares what it has in common with the original, and is changed apart from
// it; snapshots of both share what is the same in both. A change costs its own size. Not thread-safe; copies
// may be used by different threads.
class Mesh {
 public:
  struct Change {
    std::vector<config::ObjectChange> objects;  // of those that are written: what really changed
    mesh::SnapshotPtr snapshot;                 // the new one; null where nothing changed
  };

  // `derivations` run in this order.
  explicit Mesh(std::vector<std::unique_ptr<Derivation>> derivations = {});
  Mesh(const Mesh& other);
  Mesh& operator=(const Mesh&) = delete;

  // REQUIRES: the first call has settings.
  Change Apply(std::span<const config::ObjectChange> changes, const model::Facts& facts);
  Change Apply(std::span<const config::ObjectChange> changes, const model::SettingsPtr& settings) {
    return Apply(changes, model::Facts(settings));
  }

  const MeshObjects& now() const { return now_; }
  const config::ObjectStore& written() const { return now_.written(); }
  const config::ObjectStore& objects() const { return now_.all(); }
  const model::SettingsPtr& settings() const { return facts_.Get<model::Settings>(); }
  // Null before the first Apply.
  const mesh::SnapshotPtr& snapshot() const { return snapshot_; }
  // Problems that come to light only when objects meet, as they are now, at the places of today: one list of
  // each account (the steps, the registries, the indexes, other clusters), in an order that stays. None is
  // null.
  const std::vector<config::DiagnosticList>& diagnostic_lists() const { return diagnostics_; }
  // All of them.
  std::vector<config::Diagnostic> Diagnostics() const;
  // The step of a type; null where there is none.
  template <typename Step>
  const Step* Find() const {
    for (const auto& derivation : derivations_) {
      if (const auto* step = dynamic_cast<const Step*>(derivation.get())) return step;
    }
    return nullptr;
  }

 private:
  // The accounts behind those of the steps.
  enum Account : size_t { kRegistries, kIndexes, kOtherClusters, kAccounts };
  // Of an Apply that runs: whether an account's diagnostics may be others.
  using Stale = std::vector<bool>;

  bool TakeFacts(const model::Facts& facts);
  std::vector<config::ObjectChange> Derive(std::vector<config::ObjectChange> changed, Stale* stale);
  std::vector<config::ObjectChange> Show(std::span<const config::ObjectChange> changed);
  bool NoteUnused(std::span<const config::ObjectChange> changed);
  std::vector<config::Diagnostic> DiagnosticsOf(size_t account) const;

  std::vector<std::unique_ptr<Derivation>> derivations_;
  MeshObjects now_;                           // all(): what is written, else what the last step made
  std::vector<config::ObjectStore> derived_;  // by each step
  config::ObjectStore amended_;  // in place of what is written; by any step, the last one's counts
  model::Facts facts_;
  registry::Registries registries_;
  std::unique_ptr<mesh::SnapshotBuilder> builder_;  // null before the first settings
  mesh::SnapshotPtr snapshot_;
  SortedMap<config::ObjectKey, config::ConfigPtr> unused_;  // that other clusters have in vain
  std::vector<config::DiagnosticList> diagnostics_;         // by account
};

}  // namespace fairlead::state

#endif  // FAIRLEAD_STATE_MESH_H_
