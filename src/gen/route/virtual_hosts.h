#ifndef FAIRLEAD_GEN_ROUTE_VIRTUAL_HOSTS_H_
#define FAIRLEAD_GEN_ROUTE_VIRTUAL_HOSTS_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gen/route/inputs.h"

namespace fairlead::gen::route {

// The routes of an Envoy VirtualHost, encoded as its field `routes`: shared by the hosts of a VirtualService.
using EncodedRoutes = std::shared_ptr<const std::string>;

struct VirtualHost {
  std::string name;
  std::vector<std::string> domains;
  EncodedRoutes routes;  // never null
  std::string session;   // of its service: see EncodedHostSession
};
using VirtualHosts = std::vector<VirtualHost>;

// The virtual hosts of a listener with unique names and domains, in the order of their names, without the
// catch-all. Pure. Source: Istio's BuildSidecarOutboundVirtualHosts.
VirtualHosts BuildVirtualHosts(const HostInputs& inputs);

// The virtual hosts for the host of a sniffed listener. A single one answers for any host, as the listener
// has one service behind it. Source: Istio's getVirtualHostsForSniffedServicePort.
VirtualHosts SniffedHosts(const VirtualHosts& all, std::string_view host_and_port, std::string_view host);

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_VIRTUAL_HOSTS_H_
