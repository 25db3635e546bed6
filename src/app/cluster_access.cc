#include "app/cluster_access.h"

#include "base/strings.h"

namespace fairlead::app {

bool ReadsCluster(const DiscoveryOptions& options) {
  return !options.kubeconfig.empty() ||
         (options.config_dir.empty() && !options.environment.kubernetes_host.empty());
}

absl::StatusOr<kube::ServerAccess> ClusterAccessOf(const DiscoveryOptions& options) {
  const Environment& environment = options.environment;
  absl::StatusOr<kube::ServerAccess> access =
      options.kubeconfig.empty()
          ? kube::InClusterAccess(environment.kubernetes_host, environment.kubernetes_port)
          : kube::ReadKubeconfig(options.kubeconfig);
  if (access.ok()) return access;
  const char* const flag = options.kubeconfig.empty() ? "the cluster's credentials: " : "--kubeconfig: ";
  return absl::Status(access.status().code(), ToAbsl(StrCat(flag, FromAbsl(access.status().message()))));
}

}  // namespace fairlead::app
