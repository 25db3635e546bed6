#ifndef FAIRLEAD_AGENT_BOOTSTRAP_CLUSTERS_H_
#define FAIRLEAD_AGENT_BOOTSTRAP_CLUSTERS_H_

#include "agent/options.h"
#include "nlohmann/json.hpp"

namespace fairlead::agent {

// The clusters of a bootstrap: Envoy's own statistics, the agent, its sockets, the control plane, and the
// servers that the ProxyConfig names.
nlohmann::json BootstrapClusters(const Options& options);

// Who gets traces; null for nobody.
nlohmann::json BootstrapTracing(const Options& options);

// The file of Lightstep's token, in the folder of the configuration.
std::string LightstepTokenFile(const Options& options);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_BOOTSTRAP_CLUSTERS_H_
