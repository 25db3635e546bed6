#ifndef FAIRLEAD_AGENT_BOOTSTRAP_STATISTICS_H_
#define FAIRLEAD_AGENT_BOOTSTRAP_STATISTICS_H_

#include <string>
#include <vector>

#include "agent/options.h"
#include "nlohmann/json.hpp"

namespace fairlead::agent {

// Puts into a bootstrap how Envoy names its statistics, which of them there are, and where they go:
// stats_config, stats_flush_interval, stats_eviction_interval and stats_sinks, by the ProxyConfig and the
// pod's annotations sidecar.istio.io/stats… and extraStatTags.
void AddStatistics(const Options& options, nlohmann::json* bootstrap);

// What of these annotations cannot be read and does not count.
std::vector<std::string> StatisticsRemarks(const Options& options);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_BOOTSTRAP_STATISTICS_H_
