#ifndef FAIRLEAD_AGENT_BOOTSTRAP_NODE_H_
#define FAIRLEAD_AGENT_BOOTSTRAP_NODE_H_

#include <string>

#include "agent/options.h"
#include "nlohmann/json.hpp"

namespace fairlead::agent {

// The xDS node id: type~ip~pod.namespace~domain (Istio: Node.ServiceNode).
std::string NodeId(const Options& options);

// Envoy's cluster name of the node, for traces: by the ProxyConfig's serviceCluster or tracingServiceName,
// from labels, workload name and namespace. Source: pilot-agent, getServiceCluster.
std::string ServiceCluster(const Options& options);

// The identity of the proxy or gRPC library: envoy.config.core.v3.Node as JSON.
nlohmann::json BuildNode(const Options& options);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_BOOTSTRAP_NODE_H_
