#ifndef FAIRLEAD_SOURCE_CLUSTER_KUBECONFIG_SECRETS_H_
#define FAIRLEAD_SOURCE_CLUSTER_KUBECONFIG_SECRETS_H_

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/diagnostic.h"
#include "config/object.h"

namespace fairlead::source {

// The label of Secrets whose keys are clusters and whose values are their kubeconfigs, and its selector.
inline constexpr char kRemoteSecretSelector[] = "labelSelector=istio%2FmultiCluster%3Dtrue";

// What of such Secrets counts.
struct KubeconfigRules {
  std::string own_cluster;  // is read already
  size_t most_clusters = 100;
  size_t most_bytes = 256 << 10;  // of one kubeconfig
};

// One cluster as a Secret has it.
struct NamedKubeconfig {
  config::ObjectKey secret;
  std::string text;
};
using NamedKubeconfigs = std::map<std::string, NamedKubeconfig, std::less<>>;  // by cluster

// The clusters that the Secrets name. Of a cluster in several Secrets the holder's counts, else the oldest
// one's; past the limit the clusters with a holder come first. `holders` are the Secrets of the clusters that
// are read now. Adds a problem for each key that does not count. Pure.
// Source: Istio's multicluster.Controller.
NamedKubeconfigs ChooseKubeconfigs(const std::map<config::ObjectKey, config::ConfigPtr>& secrets,
                                   const std::map<std::string, config::ObjectKey, std::less<>>& holders,
                                   const KubeconfigRules& rules, std::vector<config::Diagnostic>* problems);

// About one key of a Secret.
config::Diagnostic KubeconfigProblem(const config::ObjectKey& secret, std::string_view cluster,
                                     config::Severity severity, std::string message);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_CLUSTER_KUBECONFIG_SECRETS_H_
