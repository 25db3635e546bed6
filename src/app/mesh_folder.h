#ifndef FAIRLEAD_APP_MESH_FOLDER_H_
#define FAIRLEAD_APP_MESH_FOLDER_H_

#include "simulate/loaded_mesh.h"

namespace fairlead::app {

// Reads a folder of manifests (--configDir) and the mesh's own files; see simulate::MeshLoader.
absl::StatusOr<simulate::LoadedMesh> LoadMesh(const simulate::MeshFiles& files);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_MESH_FOLDER_H_
