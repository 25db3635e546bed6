#ifndef FAIRLEAD_GATEWAY_API_CONVERSION_RULES_H_
#define FAIRLEAD_GATEWAY_API_CONVERSION_RULES_H_

#include "gateway_api/conversion/backend.h"
#include "gateway_api/error.h"

namespace istio::networking::v1alpha3 {
class VirtualService;
}

namespace fairlead::gateway_api {

// Adds a route's rules to the list of its protocol (http, tcp or tls) in `out`, one for each match, in the
// order of the route. The error is the last one; one that ends the translation leaves no rules at all.
// REQUIRES: an HTTPRoute, GRPCRoute, TCPRoute or TLSRoute.
MaybeError ConvertRules(const RouteView& view, istio::networking::v1alpha3::VirtualService* out);

// Of one protocol each.
MaybeError ConvertHttpRules(const RouteView& view, istio::networking::v1alpha3::VirtualService* out);
MaybeError ConvertLayer4Rules(const RouteView& view, istio::networking::v1alpha3::VirtualService* out);

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_CONVERSION_RULES_H_
