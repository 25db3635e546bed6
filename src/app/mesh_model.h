#ifndef FAIRLEAD_APP_MESH_MODEL_H_
#define FAIRLEAD_APP_MESH_MODEL_H_

#include <memory>
#include <mutex>
#include <vector>

#include "app/derivations.h"
#include "config/store.h"
#include "mesh/snapshot.h"
#include "push/mesh_thread.h"
#include "state/mesh.h"

namespace fairlead::app {

// The real model: the live mesh.
class StoreMeshModel : public push::MeshModel {
 public:
  explicit StoreMeshModel(const DerivationOptions& options = {}) : mesh_(MakeDerivations(options)) {}
  mesh::SnapshotPtr Update(std::span<const config::ObjectChange> changes, const model::SettingsPtr& settings,
                           push::Reasons* changed) override;
  void SetKeySets(model::KeySetsPtr key_sets) override { mesh_.SetKeySets(std::move(key_sets)); }
  void SetTrustBundle(model::TrustBundlePtr trust_bundle) override {
    mesh_.SetTrustBundle(std::move(trust_bundle));
  }
  std::vector<config::Diagnostic> Diagnostics() const override;
  // What is written, as it is now. May be called from any thread.
  config::ObjectStore Store() const;
  // The same with what was made of it. May be called from any thread.
  config::ObjectStore AllObjects() const;
  // Every object of the control plane's own cluster as it is now, by kind, namespace and name. May be called
  // from any thread.
  std::vector<config::ConfigPtr> Objects() const;

 private:
  state::Mesh mesh_;
  std::shared_ptr<const mesh::NetworkIndex> networks_;  // as last published
  mutable std::mutex objects_mutex_;
  // Those of mesh_, for other threads; guarded by objects_mutex_.
  config::ObjectStore objects_, all_objects_;
};

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_MESH_MODEL_H_
