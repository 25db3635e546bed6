#ifndef FAIRLEAD_GEN_GATEWAY_BUILD_ROUTES_H_
#define FAIRLEAD_GEN_GATEWAY_BUILD_ROUTES_H_

#include <string>
#include <vector>

#include "gen/gateway/route_inputs.h"

namespace fairlead::gen::gateway {

// The HTTP routes of a VirtualService, in order; empty where none applies. Pure. Source: Istio's
// BuildHTTPRoutesForVirtualService.
std::vector<EncodedRoute> BuildVirtualServiceRoutes(const VirtualServiceInputs& inputs);

// A router's encoded route configuration. Hosts with the same routes share one virtual host, in the order of
// their names. Without any host, one virtual host answers 404. Pure. Source: Istio's
// buildGatewayHTTPRouteConfig.
std::string BuildGatewayRouteConfiguration(const GatewayRouteInputs& inputs);

}  // namespace fairlead::gen::gateway

#endif  // FAIRLEAD_GEN_GATEWAY_BUILD_ROUTES_H_
