#ifndef FAIRLEAD_AGENT_BOOTSTRAP_LISTENERS_H_
#define FAIRLEAD_AGENT_BOOTSTRAP_LISTENERS_H_

#include "agent/options.h"
#include "nlohmann/json.hpp"

namespace fairlead::agent {

// The listeners of a bootstrap: Envoy's metrics (15090), the agent's probe through Envoy (15021), and metrics
// with mutual TLS where they are asked for.
nlohmann::json BootstrapListeners(const Options& options);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_BOOTSTRAP_LISTENERS_H_
