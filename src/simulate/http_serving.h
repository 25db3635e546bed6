#ifndef FAIRLEAD_SIMULATE_HTTP_SERVING_H_
#define FAIRLEAD_SIMULATE_HTTP_SERVING_H_

#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "simulate/outcome.h"
#include "simulate/request.h"
#include "simulate/resources.h"

namespace fairlead::simulate {

// An HTTP request in a connection manager: normalisation, virtual host, route, filters, clusters. The request
// is HTTP; what it says of TLS is what the filter chain terminated.
void ServeHttp(
    const envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager& manager,
    const ProxyResources& resources, SimulatedRequest request, SimulationOutcome* outcome);

// Settles the verdict from the destinations: reached where one of them has an endpoint.
void SettleDestinations(CallVerdict reached, SimulationOutcome* outcome);

}  // namespace fairlead::simulate

#endif  // FAIRLEAD_SIMULATE_HTTP_SERVING_H_
