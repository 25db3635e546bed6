#ifndef FAIRLEAD_GEN_ROUTE_MATCH_H_
#define FAIRLEAD_GEN_ROUTE_MATCH_H_

#include <string>
#include <string_view>
#include <vector>

#include "gen/route/semantics.h"

namespace envoy::config::route::v3 {
class Route;
class RouteMatch;
}  // namespace envoy::config::route::v3
namespace istio::networking::v1alpha3 {
class HTTPMatchRequest;
}

namespace fairlead::gen::route {

// The parts of a request that a match condition needs; null stands for a route without conditions. Ports,
// gateways and sources are not part of it: they decide whether a client gets the route at all. Headers and
// parameters come out in the order of their names. Pure. Source: Istio's TranslateRouteMatch.
void BuildMatch(const istio::networking::v1alpha3::HTTPMatchRequest* match, Semantics semantics,
                envoy::config::route::v3::RouteMatch* out);

// Whether the route takes every request, so that no route after it is ever reached.
bool IsCatchAll(const envoy::config::route::v3::Route& route);

// The claims that a pseudo-header "@request.auth.claims.a.b" or "@request.auth.claims[a][b]" names; empty for
// any other header.
std::vector<std::string> RoutingClaims(std::string_view header);

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_MATCH_H_
