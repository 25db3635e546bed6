#ifndef FAIRLEAD_GEN_ROUTE_HTTP_ROUTE_H_
#define FAIRLEAD_GEN_ROUTE_HTTP_ROUTE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "envoy/config/route/v3/route_components.pb.h"
#include "gen/route/route_options.h"
#include "mesh/index/routing_objects.h"

namespace fairlead::gen::route {

// The HTTP routes of a VirtualService for a listener and a client, in order. Routes for other ports, gateways
// or sources are left out, and so are all routes behind one that takes every request. Empty: nothing applies,
// and the VirtualService does not count. Pure. Source: Istio's BuildHTTPRoutesForVirtualService.
std::vector<envoy::config::route::v3::Route> BuildHttpRoutes(const mesh::VirtualService& virtual_service,
                                                             const RouteOptions& options);

// The route to a service that no VirtualService is about. `hash` may be null.
void BuildDefaultRoute(std::string_view host, uint32_t port, const ConsistentHash* hash,
                       const istio::networking::v1alpha3::HTTPRetry* default_retries,
                       envoy::config::route::v3::Route* out);

// "host:80/*", the tracing operation of what goes to a host and port; IPv6 addresses in brackets.
std::string TraceOperation(std::string_view host, uint32_t port);

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_HTTP_ROUTE_H_
