#include "app/cluster_access.h"

#include "base/strings.h"

namespace fairlead::app {

bool ReadsCluster(const DiscoveryOptions& options) {
  return !options.kubeconfig.empty() ||
         (options.config_dir.empty() && !options.environment.kubernetes_host.empty());
}

namespace {

absl::StatusOr<kube::ServerAccess> Named(const char* what, absl::StatusOr<kube::ServerAccess> access) {
  if (access.ok()) return access;
  return absl::Status(access.status().code(), ToAbsl(StrCat(what, FromAbsl(access.status().message()))));
}

absl::StatusOr<kube::ServerAccess> PodAccess(const Environment& environment) {
  return Named("the cluster's credentials: ",
               kube::InClusterAccess(environment.kubernetes_host, environment.kubernetes_port));
}

}  // namespace

absl::StatusOr<kube::ServerAccess> ClusterAccessOf(const DiscoveryOptions& options) {
  return options.kubeconfig.empty() ? PodAccess(options.environment)
                                    : Named("--kubeconfig: ", kube::ReadKubeconfig(options.kubeconfig));
}

absl::StatusOr<kube::ServerAccess> RemoteSecretAccessOf(const DiscoveryOptions& options) {
  const Environment& environment = options.environment;
  return environment.external_control_plane && environment.local_secrets ? PodAccess(environment)
                                                                         : ClusterAccessOf(options);
}

}  // namespace fairlead::app
