#ifndef FAIRLEAD_SIMULATE_ROUTING_H_
#define FAIRLEAD_SIMULATE_ROUTING_H_

#include <string>
#include <string_view>
#include <vector>

#include "envoy/config/route/v3/route.pb.h"
#include "simulate/request.h"

// How Envoy chooses a virtual host and a route. Source: the API descriptions of envoy.config.route.v3
// (VirtualHost.domains, RouteMatch).
namespace fairlead::simulate {

// "reviews:9080" -> "reviews"; "[::1]:80" -> "[::1]".
std::string_view WithoutPort(std::string_view authority);

// By the request's authority: exact domains, then the longest "*suffix", then the longest "prefix*", then
// "*". Null where none matches.
const envoy::config::route::v3::VirtualHost* ChooseVirtualHost(
    const envoy::config::route::v3::RouteConfiguration& configuration, const SimulatedRequest& request);

// The first route that matches; null where none does. Notes what of a match is not known here.
const envoy::config::route::v3::Route* ChooseRoute(const envoy::config::route::v3::VirtualHost& host,
                                                   const SimulatedRequest& request,
                                                   std::vector<std::string>* notes);

// The request's path with what `match` matched replaced by `prefix`; the query stays.
std::string WithPrefixRewritten(const envoy::config::route::v3::RouteMatch& match, std::string_view prefix,
                                std::string_view path);
// The path with all matches of the pattern replaced; the query stays.
std::string WithRegexRewritten(const envoy::type::matcher::v3::RegexMatchAndSubstitute& rewrite,
                               std::string_view path);

// Where a redirect of this route sends the request, and its status code.
std::string RedirectLocation(const envoy::config::route::v3::Route& route, const SimulatedRequest& request);
int RedirectStatus(const envoy::config::route::v3::RedirectAction& redirect);

}  // namespace fairlead::simulate

#endif  // FAIRLEAD_SIMULATE_ROUTING_H_
