#include "simulate/command/mesh_flags.h"

#include <CLI/CLI.hpp>

#include "base/strings.h"

namespace fairlead::simulate {

void AddMeshFlags(MeshFiles* files, CLI::App* command, const char* other_names) {
  const std::string others(other_names);
  command
      ->add_option(StrCat(others, others.empty() ? "" : ",", "--configDir"), files->folder,
                   "folder of the mesh's manifests")
      ->required();
  command->add_option("--meshConfig", files->mesh_config, "file of the MeshConfig");
  command->add_option("--networksConfig", files->networks_config, "file of the MeshNetworks");
  command->add_option("--domain", files->domain, "DNS domain suffix")->capture_default_str();
  command->add_option("--clusterID", files->cluster_id, "ID of the manifests' cluster")
      ->capture_default_str();
  command->add_option("-n,--namespace", files->system_namespace, "namespace of the control plane")
      ->capture_default_str();
}

}  // namespace fairlead::simulate
