#ifndef FAIRLEAD_APP_MESH_MODEL_H_
#define FAIRLEAD_APP_MESH_MODEL_H_

#include <memory>

#include "config/store.h"
#include "mesh/builder.h"
#include "push/mesh_thread.h"
#include "registry/registry.h"

namespace fairlead::app {

// The real model: object store, registries and snapshot builder in a row.
class StoreMeshModel : public push::MeshModel {
 public:
  mesh::SnapshotPtr Update(std::span<const config::ObjectChange> changes, const model::SettingsPtr& settings,
                           push::Reasons* changed) override;
  std::vector<config::Diagnostic> Diagnostics() const override;

 private:
  model::SettingsPtr settings_;
  config::ObjectStore store_;
  registry::Registries registries_;
  std::vector<config::Diagnostic> registry_diagnostics_;
  std::unique_ptr<mesh::SnapshotBuilder> builder_;  // null before the first settings
};

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_MESH_MODEL_H_
