#ifndef FAIRLEAD_MESH_BUILDER_H_
#define FAIRLEAD_MESH_BUILDER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "config/diagnostic.h"
#include "config/store.h"
#include "mesh/index/snapshot.h"
#include "model/key_sets.h"
#include "model/registry_output.h"
#include "model/secret_readers.h"
#include "model/settings.h"
#include "model/trust_bundle.h"

namespace fairlead::mesh {

// Turns the objects of a mesh into snapshots. Keeps what it derived, so that the next snapshot shares
// everything whose inputs did not change. A value: a copy costs little, shares what it has in common with the
// original, and is changed apart from it. Not thread-safe.
class SnapshotBuilder {
 public:
  explicit SnapshotBuilder(model::SettingsPtr settings);
  SnapshotBuilder(const SnapshotBuilder& other);
  SnapshotBuilder& operator=(const SnapshotBuilder&) = delete;
  ~SnapshotBuilder();

  // Problems that come to light only when objects meet (duplicate hosts, missing delegates, …), as they are
  // now.
  const std::vector<config::Diagnostic>& diagnostics() const;
  // Rises whenever they may be others.
  uint64_t diagnostics_revision() const;

  void SetSettings(model::SettingsPtr settings);
  void SetKeySets(model::KeySetsPtr key_sets);
  void SetTrustBundle(model::TrustBundlePtr trust_bundle);
  void SetSecretReaders(model::SecretReadersPtr secret_readers);
  void SetWritten(std::shared_ptr<const WrittenObjects> written);
  // Builds the snapshot for the store's content and the registries' services and endpoints.
  // REQUIRES: it is called once after each Apply of the registries (what registry.changes does not name is
  // taken to be as it was in the last snapshot), and the store is that of the last call, changed or not.
  SnapshotPtr Build(const config::ObjectStore& store, const model::RegistryOutput& registry);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_BUILDER_H_
