#ifndef FAIRLEAD_SIMULATE_COMMAND_MESH_FLAGS_H_
#define FAIRLEAD_SIMULATE_COMMAND_MESH_FLAGS_H_

#include "simulate/loaded_mesh.h"

namespace CLI {
class App;
}

namespace fairlead::simulate {

// The flags of a mesh's files, for commands that read a mesh. --configDir, or one of its `other_names`
// ("-f,--file"), is required; the others are --meshConfig and so on. A flag that is not given keeps its
// value.
void AddMeshFlags(MeshFiles* files, CLI::App* command, const char* other_names = "");

}  // namespace fairlead::simulate

#endif  // FAIRLEAD_SIMULATE_COMMAND_MESH_FLAGS_H_
