#ifndef FAIRLEAD_GEN_ROUTE_REDIRECT_H_
#define FAIRLEAD_GEN_ROUTE_REDIRECT_H_

#include <cstdint>

namespace envoy::config::route::v3 {
class Route;
}
namespace istio::networking::v1alpha3 {
class HTTPDirectResponse;
class HTTPRedirect;
}  // namespace istio::networking::v1alpha3

namespace fairlead::gen::route {

// Answers that the proxy gives itself. `port` is the listener's, which a redirect may keep; `tls` says
// whether the listener terminates TLS. A redirect code that Envoy cannot send (304) leaves the route without
// an action. Pure. Source: Istio's ApplyRedirect, ApplyDirectResponse.
void BuildRedirect(const istio::networking::v1alpha3::HTTPRedirect& redirect, uint32_t port, bool tls,
                   envoy::config::route::v3::Route* out);
void BuildDirectResponse(const istio::networking::v1alpha3::HTTPDirectResponse& response,
                         envoy::config::route::v3::Route* out);

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_REDIRECT_H_
