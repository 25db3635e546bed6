#ifndef FAIRLEAD_GATEWAY_API_CONVERSION_ROUTE_FILTERS_H_
#define FAIRLEAD_GATEWAY_API_CONVERSION_ROUTE_FILTERS_H_

#include "config/tree.h"
#include "gateway_api/conversion/backend.h"
#include "gateway_api/error.h"

namespace istio::networking::v1alpha3 {
class CorsPolicy;
class Headers;
class HTTPRoute;
}  // namespace istio::networking::v1alpha3

namespace fairlead::gateway_api {

// What the filters of a rule come to.
struct FilterErrors {
  MaybeError mirror;  // the last bad mirror of an HTTPRoute: reported, and the mirror left out
  MaybeError fatal;   // ends the whole route's translation
};

// Sets what a rule's filters ask for: headers, mirrors and, for an HTTPRoute, redirects, rewrites and CORS.
FilterErrors ApplyFilters(const RouteView& view, config::Node filters,
                          istio::networking::v1alpha3::HTTPRoute* out);

// The same for the filters of one backend, which may change headers alone; an error is fatal.
MaybeError ApplyBackendFilters(config::Node filters, istio::networking::v1alpha3::Headers* out);

void SetCors(config::Node filter, istio::networking::v1alpha3::CorsPolicy* out);

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_CONVERSION_ROUTE_FILTERS_H_
