#ifndef FAIRLEAD_GEN_GATEWAY_COLLECT_ROUTES_H_
#define FAIRLEAD_GEN_GATEWAY_COLLECT_ROUTES_H_

#include <functional>
#include <string>

#include "gen/gateway/route_inputs.h"
#include "mesh/view/view.h"

namespace fairlead::gen::gateway {

// Makes the routes of a VirtualService, or finds them made.
using MakeRoutes = std::function<EncodedRoutesPtr(const VirtualServiceInputs&)>;

// The inputs of the route configuration `name` of a router, which serves `route` by it.
GatewayRouteInputs CollectRoute(mesh::View& view, const std::string& name, const mesh::GatewayRoutePtr& route,
                                const MakeRoutes& make);

}  // namespace fairlead::gen::gateway

#endif  // FAIRLEAD_GEN_GATEWAY_COLLECT_ROUTES_H_
