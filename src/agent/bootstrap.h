#ifndef FAIRLEAD_AGENT_BOOTSTRAP_H_
#define FAIRLEAD_AGENT_BOOTSTRAP_H_

#include <string>
#include <utility>

#include "agent/options.h"
#include "nlohmann/json.hpp"

namespace fairlead::agent {

// The xDS node id: type~ip~pod.namespace~domain (Istio: Node.ServiceNode).
std::string NodeId(const Options& options);

// Envoy's cluster name of the node: the option, else "<app label>.<namespace>", else
// "istio-proxy.<namespace>".
std::string ServiceCluster(const Options& options);

// Host and port of "host:port", "[v6]:port" or "host", the last with the plaintext xDS port.
std::pair<std::string, int> SplitAddress(const std::string& text, int default_port = 15010);

// Envoy's bootstrap (envoy.config.bootstrap.v3.Bootstrap) as proto3 JSON. It uses nothing that a stock Envoy
// lacks.
nlohmann::json BuildBootstrap(const Options& options);

// The identity of the proxy or gRPC library: envoy.config.core.v3.Node as JSON.
nlohmann::json BuildNode(const Options& options);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_BOOTSTRAP_H_
