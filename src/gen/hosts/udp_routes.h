#ifndef FAIRLEAD_GEN_HOSTS_UDP_ROUTES_H_
#define FAIRLEAD_GEN_HOSTS_UDP_ROUTES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mesh/index/merged_gateway.h"
#include "mesh/view/view.h"

// Where a router sends datagrams. Source: Gateway API, UDPRoute; Istio has no such listeners.
namespace fairlead::gen {

// One backend of a UDPRoute.
struct UdpBackend {
  model::ServicePtr service;
  uint32_t port = 0;    // of UDP
  uint32_t weight = 0;  // of UdpRoute::total; not 0
};

// The rule that a listener of UDP follows.
struct UdpRoute {
  std::vector<UdpBackend> backends;  // those that the router can reach, in order
  uint64_t total = 0;                // of all weights: what is not the backends' is dropped; not 0
};

// The first rule of the oldest UDPRoute of the first server that has one; nothing where there is none.
std::optional<UdpRoute> FindUdpRoute(mesh::View& view, const mesh::GatewayPort& port);

// The ports that a router's listeners of UDP lead to, by the service's host name.
struct UdpPorts {
  model::ServicePtr service;
  std::set<uint32_t> ports;
};
std::map<std::string, UdpPorts> CollectUdpPorts(mesh::View& view);

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_HOSTS_UDP_ROUTES_H_
