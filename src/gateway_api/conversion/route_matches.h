#ifndef FAIRLEAD_GATEWAY_API_CONVERSION_ROUTE_MATCHES_H_
#define FAIRLEAD_GATEWAY_API_CONVERSION_ROUTE_MATCHES_H_

#include <google/protobuf/repeated_ptr_field.h>

#include "config/tree.h"
#include "gateway_api/error.h"

namespace istio::networking::v1alpha3 {
class HTTPMatchRequest;
class HTTPRoute;
}  // namespace istio::networking::v1alpha3

namespace fairlead::gateway_api {

// One match of an HTTPRoute's or a GRPCRoute's rule. An error ends the whole route's translation.
MaybeError SetHttpMatch(config::Node match, istio::networking::v1alpha3::HTTPMatchRequest* out);
MaybeError SetGrpcMatch(config::Node match, istio::networking::v1alpha3::HTTPMatchRequest* out);

// The Gateway API's order of rules, from the most to the least specific: exact paths, longer prefixes,
// regular expressions, then methods, more headers, more query parameters. Rules of equal rank keep their
// order. Source: Gateway API, HTTPRouteRule.matches.
// REQUIRES: each rule has one match at most.
void SortByPrecedence(google::protobuf::RepeatedPtrField<istio::networking::v1alpha3::HTTPRoute>* rules);

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_CONVERSION_ROUTE_MATCHES_H_
