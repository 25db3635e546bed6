#ifndef FAIRLEAD_APP_CLUSTER_ACCESS_H_
#define FAIRLEAD_APP_CLUSTER_ACCESS_H_

#include "absl/status/statusor.h"
#include "app/discovery_options.h"
#include "kube/access.h"

namespace fairlead::app {

// Whether objects are read from an API server: that of --kubeconfig, or, where there is no --configDir, of
// the cluster that this process is a pod of.
bool ReadsCluster(const DiscoveryOptions& options);

// How to reach it. REQUIRES: ReadsCluster. The message names the flag, and what is wrong where.
absl::StatusOr<kube::ServerAccess> ClusterAccessOf(const DiscoveryOptions& options);

// How to reach the API server with the kubeconfigs of other clusters: the same, but that of the pod's cluster
// where an external control plane is to look there. Source: Istio's LOCAL_CLUSTER_SECRET_WATCHER.
absl::StatusOr<kube::ServerAccess> RemoteSecretAccessOf(const DiscoveryOptions& options);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_CLUSTER_ACCESS_H_
