#include "simulate/loaded_mesh.h"

namespace fairlead::simulate {

std::vector<config::ConfigPtr> LoadedMesh::Of(config::Kind kind) const {
  std::vector<config::ConfigPtr> out;
  for (const auto& [key, object] : objects) {
    if (key.kind == kind) out.push_back(object);
  }
  return out;
}

}  // namespace fairlead::simulate
