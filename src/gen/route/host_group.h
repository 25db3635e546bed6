#ifndef FAIRLEAD_GEN_ROUTE_HOST_GROUP_H_
#define FAIRLEAD_GEN_ROUTE_HOST_GROUP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "gen/route/inputs.h"
#include "gen/route/service_table.h"
#include "gen/route/virtual_hosts.h"

namespace fairlead::gen::route {

// Hosts that share a port and their routes: those of one VirtualService, or one service without any.
struct HostGroup {
  uint32_t port = 0;
  std::vector<std::string> hosts;  // of a VirtualService that are no service's
  std::vector<const RoutedService*> services;
  EncodedRoutes routes;  // never null or empty
};

// All groups of a listener, those of VirtualServices first, in order: where two want a host, the first gets
// it. Pure; the groups point into `table`. Source: Istio's BuildSidecarVirtualHostWrapper.
std::vector<HostGroup> GroupHosts(const HostInputs& inputs, const RoutedServices& table);

// The VirtualServices with a host that meets one of the services, in their order. Source: Istio's
// selectVirtualServices.
std::vector<mesh::VirtualServicePtr> SelectVirtualServices(
    const std::vector<mesh::VirtualServicePtr>& virtual_services, const RoutedServices& table);

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_HOST_GROUP_H_
