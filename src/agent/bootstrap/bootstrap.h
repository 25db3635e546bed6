#ifndef FAIRLEAD_AGENT_BOOTSTRAP_BOOTSTRAP_H_
#define FAIRLEAD_AGENT_BOOTSTRAP_BOOTSTRAP_H_

#include <string>

#include "absl/status/status.h"
#include "agent/options.h"
#include "nlohmann/json.hpp"

namespace fairlead::agent {

// Envoy's bootstrap (envoy.config.bootstrap.v3.Bootstrap) as proto3 JSON: Istio's, for Istio's Envoys and
// stock ones. docs/agent.md says where the two differ. Source: Istio, tools/packaging/common,
// envoy_bootstrap.json.
nlohmann::json BuildBootstrap(const Options& options);

// FailedPrecondition for options that no bootstrap can be made of.
absl::Status CheckBootstrap(const Options& options);

// The bootstrap's place in the folder of the configuration.
std::string BootstrapFile(const Options& options);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_BOOTSTRAP_BOOTSTRAP_H_
