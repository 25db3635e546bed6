#ifndef FAIRLEAD_GEN_TELEMETRY_VIEW_H_
#define FAIRLEAD_GEN_TELEMETRY_VIEW_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/interned.h"
#include "base/labels.h"
#include "config/object.h"
#include "gen/policy/provider_service.h"
#include "mesh/view.h"

namespace fairlead::gen::telemetry {

// Which way a listener's traffic goes, seen from the workload; all of a router's is kGateway. Source: Istio's
// ListenerClass.
enum class TrafficClass : uint8_t { kOutbound, kInbound, kGateway };

// What decides about a workload's access logs, traces and metrics, besides MeshConfig: the Telemetry objects
// that apply to it, and the services of the mesh's extension providers. Comparable: part of every listener's
// Inputs.
struct TelemetryView {
  std::vector<config::ConfigPtr>
      objects;  // root namespace's, own namespace's, then those that select the workload
  std::vector<ProviderService> providers;  // sorted by service

  // The hostname of a provider's service, "" if it is not found.
  std::string_view HostOf(std::string_view service) const;
  friend bool operator==(const TelemetryView&, const TelemetryView&) = default;
};

// Of the client.
TelemetryView CollectTelemetry(mesh::View& mesh);

}  // namespace fairlead::gen::telemetry

#endif  // FAIRLEAD_GEN_TELEMETRY_VIEW_H_
