#ifndef FAIRLEAD_SIMULATE_HTTP_FILTERS_H_
#define FAIRLEAD_SIMULATE_HTTP_FILTERS_H_

#include "envoy/config/route/v3/route.pb.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "simulate/outcome.h"
#include "simulate/request.h"

namespace fairlead::simulate {

// The place of a route; the settings of route configuration and virtual host that it falls back to.
struct RoutePlace {
  const envoy::config::route::v3::RouteConfiguration& configuration;
  const envoy::config::route::v3::VirtualHost& host;
  const envoy::config::route::v3::Route& route;
};

// Runs the filters before the router but those of access.h: CORS and faults. Whether one of them answers the
// request, the outcome then says how. A fault for a share of the requests is noted as a change. Filters that
// are not simulated and may answer (Wasm, Lua, …) are notes.
bool AnsweredByFilter(
    const envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager& manager,
    const RoutePlace& place, const SimulatedRequest& request, SimulationOutcome* outcome);

}  // namespace fairlead::simulate

#endif  // FAIRLEAD_SIMULATE_HTTP_FILTERS_H_
