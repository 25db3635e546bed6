#ifndef FAIRLEAD_CONFIG_CHECK_HTTP_ROUTE_H_
#define FAIRLEAD_CONFIG_CHECK_HTTP_ROUTE_H_

#include <string_view>

#include "config/check/parts.h"

namespace fairlead::config::check {

// `delegate`: of a virtual service without hosts. `gateway_api`: made of the Gateway API's objects.
void CheckHttpRoute(const net::HTTPRoute& route, bool delegate, bool gateway_api, const Spot& at);
void CheckHttpMatch(const net::HTTPMatchRequest& match, const Spot& at);
void CheckHeaderValue(std::string_view value, const Spot& at);
// "@request.auth.claims.group", as routes match claims of a token.
bool IsClaim(std::string_view header);
// Warns of HTTP, TLS and TCP routes that other ones before them hide.
void CheckReachable(const net::VirtualService& service, const Spot& spec);

}  // namespace fairlead::config::check

#endif  // FAIRLEAD_CONFIG_CHECK_HTTP_ROUTE_H_
