#ifndef FAIRLEAD_GEN_ROUTE_FORWARD_H_
#define FAIRLEAD_GEN_ROUTE_FORWARD_H_

#include <string>

#include "gen/route/route_options.h"
#include "gen/route/semantics.h"

namespace envoy::config::route::v3 {
class Route;
class RouteAction;
}  // namespace envoy::config::route::v3
namespace istio::networking::v1alpha3 {
class HTTPRoute;
}
namespace google::protobuf {
class Duration;
}

namespace fairlead::gen::route {

// Makes `out`, whose match is set, forward to the route's destinations: clusters and weights, rewrites,
// mirrors, timeouts, retries, hashing. `authority` is the host that the route's headers rewrite to, "" for
// none. Pure. Source: Istio's applyHTTPRouteDestination.
void BuildForwarding(const istio::networking::v1alpha3::HTTPRoute& route, Semantics semantics,
                     const RouteOptions& options, std::string authority,
                     envoy::config::route::v3::Route* out);

// A timeout for requests and gRPC calls alike; null or zero: none.
void SetTimeouts(const google::protobuf::Duration* timeout, envoy::config::route::v3::RouteAction* out);

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_FORWARD_H_
