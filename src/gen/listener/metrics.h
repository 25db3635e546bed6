#ifndef FAIRLEAD_GEN_LISTENER_METRICS_H_
#define FAIRLEAD_GEN_LISTENER_METRICS_H_

#include <string_view>
#include <vector>

#include "gen/listener/telemetry.h"

namespace google::protobuf {
class Any;
}

namespace fairlead::gen::listener {

struct ProxyTraits;

inline constexpr std::string_view kStatsFilter = "istio.stats";

// The configurations of the statistics filters (HTTP and network ones alike), one for each Prometheus
// provider that Telemetry objects and MeshConfig.defaultProviders.metrics come to; none for a proxy without
// the extension. Pure. Source: Istio's Telemetries.HTTPFilters and TCPFilters.
std::vector<google::protobuf::Any> StatsConfigs(const ProxyTraits& traits, TrafficClass traffic);

}  // namespace fairlead::gen::listener

#endif  // FAIRLEAD_GEN_LISTENER_METRICS_H_
