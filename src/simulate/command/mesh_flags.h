#ifndef FAIRLEAD_SIMULATE_COMMAND_MESH_FLAGS_H_
#define FAIRLEAD_SIMULATE_COMMAND_MESH_FLAGS_H_

#include "simulate/loaded_mesh.h"

namespace CLI {
class App;
}

namespace fairlead::simulate {

// The flags that say what a mesh is read from, for the commands that read one: --configDir, or one of its
// `other_names` ("-f,--file"), which is required, --meshConfig and so on. What is not given keeps its value.
void AddMeshFlags(MeshFiles* files, CLI::App* command, const char* other_names = "");

}  // namespace fairlead::simulate

#endif  // FAIRLEAD_SIMULATE_COMMAND_MESH_FLAGS_H_
