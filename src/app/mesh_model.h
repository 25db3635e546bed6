#ifndef FAIRLEAD_APP_MESH_MODEL_H_
#define FAIRLEAD_APP_MESH_MODEL_H_

#include <memory>
#include <mutex>
#include <vector>

#include "config/store.h"
#include "gen/object/object_source.h"
#include "mesh/builder.h"
#include "push/mesh_thread.h"
#include "registry/registry.h"

namespace fairlead::app {

// The real model: object store, registries and snapshot builder in a row.
class StoreMeshModel : public push::MeshModel, public gen::ObjectSource {
 public:
  // `shadow`: see mesh::SnapshotBuilder.
  explicit StoreMeshModel(bool shadow = false) : shadow_(shadow) {}
  mesh::SnapshotPtr Update(std::span<const config::ObjectChange> changes, const model::SettingsPtr& settings,
                           push::Reasons* changed) override;
  std::vector<config::Diagnostic> Diagnostics() const override;
  // Every object as it is now, by kind, namespace and name. May be called from any thread.
  std::vector<config::ConfigPtr> Objects() const;
  std::vector<config::ConfigPtr> ObjectsOf(config::Kind kind) const override;
  uint64_t RevisionOf(config::Kind kind) const override;

 private:
  const bool shadow_;
  model::SettingsPtr settings_;
  mutable std::mutex store_mutex_;  // the mesh thread writes under it, others read
  config::ObjectStore store_;
  registry::Registries registries_;
  std::vector<config::Diagnostic> registry_diagnostics_;
  std::shared_ptr<const mesh::NetworkIndex> networks_;  // as last published
  std::unique_ptr<mesh::SnapshotBuilder> builder_;      // null before the first settings
};

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_MESH_MODEL_H_
