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
// REQUIRES: an HTTPRoute, GRPCRoute, TCPRoute, TLSRoute or UDPRoute.
//
// `pickers`: takes, by the rules' names, the endpoint pickers of HTTPRoutes' rules whose last backend is an
// InferencePool.
MaybeError ConvertRules(const RouteView& view, istio::networking::v1alpha3::VirtualService* out,
                        PickersByRule* pickers);

// Of one protocol each.
MaybeError ConvertHttpRules(const RouteView& view, istio::networking::v1alpha3::VirtualService* out,
                            PickersByRule* pickers);
MaybeError ConvertLayer4Rules(const RouteView& view, istio::networking::v1alpha3::VirtualService* out);

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_CONVERSION_RULES_H_
