#ifndef FAIRLEAD_APP_MESH_FOLDER_H_
#define FAIRLEAD_APP_MESH_FOLDER_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "app/settings_files.h"
#include "config/diagnostic.h"
#include "config/object.h"
#include "mesh/snapshot.h"

namespace fairlead::app {

// A mesh that was read once, by the parts that `fairlead discovery` is made of.
struct LoadedMesh {
  mesh::SnapshotPtr snapshot;                              // never null
  std::map<config::ObjectKey, config::ConfigPtr> objects;  // all that count
  std::vector<config::Diagnostic> diagnostics;

  // All objects of a kind, in the order of their keys.
  std::vector<config::ConfigPtr> Of(config::Kind kind) const;
};

// Reads a folder of manifests (--configDir) and the mesh's own files. NotFound where there is no such folder;
// mistakes in what it holds are diagnostics.
absl::StatusOr<LoadedMesh> LoadMesh(const std::string& folder, const SettingsFiles::Options& settings);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_MESH_FOLDER_H_
