#ifndef FAIRLEAD_GEN_TELEMETRY_VIEW_H_
#define FAIRLEAD_GEN_TELEMETRY_VIEW_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/interned.h"
#include "base/labels.h"
#include "config/object.h"
#include "gen/hosts/provider_service.h"
#include "mesh/view/view.h"

namespace fairlead::gen::telemetry {

// The direction of a listener's traffic, seen from the workload; a router's is always kGateway. Source:
// Istio's ListenerClass.
enum class TrafficClass : uint8_t { kOutbound, kInbound, kGateway };

// The inputs of a workload's access logs, traces and metrics besides MeshConfig: its Telemetry objects, and
// the services of the mesh's extension providers. Comparable: part of every listener's Inputs.
struct TelemetryView {
  std::vector<config::ConfigPtr>
      objects;  // root namespace's, own namespace's, then those that select the workload
  std::vector<ProviderService> providers;  // sorted by service

  // The hostname of a provider's service, "" if it is not found.
  std::string_view HostOf(std::string_view service) const;
  friend bool operator==(const TelemetryView&, const TelemetryView&) = default;
};

// The client's inputs.
TelemetryView CollectTelemetry(mesh::View& mesh);

}  // namespace fairlead::gen::telemetry

#endif  // FAIRLEAD_GEN_TELEMETRY_VIEW_H_
