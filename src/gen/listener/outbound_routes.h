#ifndef FAIRLEAD_GEN_LISTENER_OUTBOUND_ROUTES_H_
#define FAIRLEAD_GEN_LISTENER_OUTBOUND_ROUTES_H_

#include <span>
#include <string>
#include <vector>

#include "gen/listener/chain.h"
#include "gen/listener/traits.h"
#include "mesh/index/routing_objects.h"
#include "mesh/view/view.h"
#include "model/service.h"

namespace fairlead::gen::listener {

// The port of an outbound listener: of a service, or of a Sidecar's egress listener.
struct ListenPort {
  uint32_t number = 0;  // 0: a unix domain socket
  model::Protocol protocol = model::Protocol::kUnsupported;
  std::string_view name;
};

// One service's connections on one listener.
struct L4Request {
  mesh::View& view;
  const ProxyTraits& traits;
  const model::Service& service;
  std::string_view address;  // that stands for the service, as the proxy sees it
  std::string_view bind;     // the listener's
  ListenPort port;
  std::vector<std::string>
      destinations;  // CIDR ranges of the service, where the listener is for all addresses
  std::span<const mesh::VirtualServicePtr> virtual_services;  // those with TCP or TLS routes, oldest first
  bool endpoint = false;  // `destinations` are one endpoint's: no name in TLS is needed to tell it
};

// The filter chains for connections to the service: the matching TLS or TCP routes of VirtualServices for its
// host, otherwise one chain to its cluster. Source: Istio's buildSidecarOutboundTCPListenerOpts.
std::vector<OutboundChain> CollectL4Chains(const L4Request& request);

}  // namespace fairlead::gen::listener

#endif  // FAIRLEAD_GEN_LISTENER_OUTBOUND_ROUTES_H_
