#ifndef FAIRLEAD_INJECTION_CLUSTER_TEXTS_H_
#define FAIRLEAD_INJECTION_CLUSTER_TEXTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "injection/configuration.h"

namespace fairlead::injection {

// Where a cluster has an injector's configuration.
struct ClusterTextsPlace {
  std::string kubeconfig, context;  // the context "" is the file's current one
  std::string ns = "istio-system";
  std::string config_map = "istio-sidecar-injector", mesh_config_map = "istio";  // with their revision
};

// The names of ConfigMaps with a revision: "istio" or "istio-dock".
std::string WithRevision(const std::string& name, const std::string& revision);

// The texts of the injector's ConfigMap. Blocks. The message names the ConfigMap, or the kubeconfig.
absl::StatusOr<InjectorTexts> ReadClusterTexts(const ClusterTextsPlace& place);
// The MeshConfig of its ConfigMap.
absl::StatusOr<std::string> ReadClusterMesh(const ClusterTextsPlace& place);

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_CLUSTER_TEXTS_H_
