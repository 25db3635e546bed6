#ifndef FAIRLEAD_GEN_HOSTS_SERVER_HOSTS_H_
#define FAIRLEAD_GEN_HOSTS_SERVER_HOSTS_H_

#include "mesh/index/merged_gateway.h"
#include "mesh/index/routing_objects.h"

namespace fairlead::gen {

// Whether a server takes a host of the VirtualService: "namespace/host" those of one namespace alone.
bool TakesAHost(const mesh::GatewayServer& server, const mesh::VirtualService& virtual_service);

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_HOSTS_SERVER_HOSTS_H_
