#ifndef FAIRLEAD_GEN_ROUTE_BUILD_H_
#define FAIRLEAD_GEN_ROUTE_BUILD_H_

#include <string>
#include <string_view>

#include "gen/route/inputs.h"
#include "gen/route/virtual_hosts.h"

// Route configurations, encoded: a port of a thousand services is a message of ten thousand parts, of which
// nearly all are known as bytes. Pure.
namespace fairlead::gen::route {

// A sidecar's outbound route configuration: the virtual hosts of the listener, and the catch-all unless the
// name is a sniffed one. `hosts` is BuildVirtualHosts(*inputs.hosts), which route configurations of one port
// share; empty where inputs.hosts is null. Source: Istio's buildSidecarOutboundHTTPRouteConfig.
std::string BuildOutboundRouteConfiguration(const Inputs& inputs, const VirtualHosts& hosts);

// A gRPC client's: the hosts it is given and nothing else. Source: Istio's grpcgen.
std::string BuildProxylessRouteConfiguration(std::string_view name, const VirtualHosts& hosts,
                                             bool include_attempt_count);

// The resource for an unknown name: a configuration without hosts.
std::string BuildUnknownRouteConfiguration(std::string_view name);

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_BUILD_H_
