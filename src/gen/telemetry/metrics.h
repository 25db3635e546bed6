#ifndef FAIRLEAD_GEN_TELEMETRY_METRICS_H_
#define FAIRLEAD_GEN_TELEMETRY_METRICS_H_

#include <string_view>
#include <vector>

#include "gen/telemetry/view.h"

namespace google::protobuf {
class Any;
}

namespace fairlead::gen::telemetry {

struct Traits;

inline constexpr std::string_view kStatsFilter = "istio.stats";

// The configurations of the statistics filters (HTTP and network), one for each Prometheus provider of
// Telemetry objects and MeshConfig.defaultProviders.metrics. None for a proxy without the extension. Pure.
// Source: Istio's Telemetries.HTTPFilters and TCPFilters.
std::vector<google::protobuf::Any> StatsConfigs(const Traits& traits, TrafficClass traffic);

}  // namespace fairlead::gen::telemetry

#endif  // FAIRLEAD_GEN_TELEMETRY_METRICS_H_
