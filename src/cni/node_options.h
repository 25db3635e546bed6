#ifndef FAIRLEAD_CNI_NODE_OPTIONS_H_
#define FAIRLEAD_CNI_NODE_OPTIONS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace fairlead::cni {

// `fairlead cni install` and `fairlead cni repair`: what runs on each node. Flags have istio-cni's names; a
// flag's variable is its name in upper case with "_", and flags win. Source: Istio, cni/pkg/cmd
struct NodeOptions {
  // Installation. Folders are the node's, as this process sees them.
  std::string network_folder = "/host/etc/cni/net.d";
  std::string network_file;  // in it; "": the first that is a network configuration
  std::string binary_folder = "/host/opt/cni/bin";
  std::string plugin_name = "fairlead-cni";
  std::string run_folder = "/var/run/istio-cni";  // of the plugin's kubeconfig; here and on the node
  std::string account_folder = "/var/run/secrets/kubernetes.io/serviceaccount";
  std::string roots_file;  // "": of the account
  std::string excluded_namespaces = "kube-system";
  std::string own_namespace;
  std::string plugin_log_level = "info";
  std::string chained = "true", unverified = "false", native_nftables = "false", once = "false";
  std::string clean_up = "true";   // at the end
  std::string api_host, api_port;  // KUBERNETES_SERVICE_HOST, …_PORT

  // Repair.
  std::string kubeconfig;  // "": this pod's account
  std::string node;
  std::string delete_pods = "false", label_pods = "false", repair_pods = "false";
  std::string label = "cni.istio.io/uninitialized", label_value = "true";
  std::string annotation = "sidecar.istio.io/status";  // of pods to repair; "": any
  std::string container = "istio-validation";          // "": any init container
  std::string exit_code = "126";                       // 0: any
  std::string message;                                 // of the container's end; "": any
  std::string label_selector, field_selector;
  std::string process_folder = "/host/proc";  // of the node's processes

  std::string log_level = "default:info";
  bool help = false;
};

// `get` gives a variable's value or null. InvalidArgument names a flag that is none, lacks its value or has a
// wrong one.
absl::StatusOr<NodeOptions> ReadNodeOptions(const std::vector<std::string>& arguments,
                                            const std::function<const char*(const char*)>& get);

std::string NodeUsage();

// Of a switch of the options, which are checked.
inline bool IsOn(const std::string& text) { return text == "true"; }

}  // namespace fairlead::cni

#endif  // FAIRLEAD_CNI_NODE_OPTIONS_H_
