#ifndef FAIRLEAD_GEN_LISTENER_OUTBOUND_COLLECT_H_
#define FAIRLEAD_GEN_LISTENER_OUTBOUND_COLLECT_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "gen/listener/outbound.h"
#include "gen/listener/reserved_ports.h"
#include "mesh/proxy_scope.h"
#include "model/endpoint.h"
#include "model/service_addresses.h"

namespace fairlead::gen::listener {

// The profiles that a proxy's listeners are made with.
struct Profiles {
  ProfilePtr full;
  ProfilePtr l4;  // without what only HTTP depends on: for listeners without a connection manager, shared
                  // more widely

  friend bool operator==(const Profiles&, const Profiles&) = default;
};

struct OutboundListener {
  OutboundInputs inputs;
  // The address that it is bound to, where that is one of an endpoint of a service without an address. The
  // endpoint itself has no such listener: traffic to self does not go through it.
  std::string endpoint;
  bool mixed = false;  // others meet the endpoint there: the endpoint's own listener is another one
};

// What the outbound listeners were collected from besides the scope, profiles, address view and reserved
// ports.
struct OutboundReads {
  bool labels = false;  // the workload's labels decided about something
  // Endpoints of services without an address of their own, which get a listener for each.
  std::vector<std::pair<model::ServicePtr, model::ServiceEndpointsPtr>> endpoints;
};

// The outbound listeners of a sidecar, one for each of its services' ports and addresses, sorted by name;
// without the virtual one and that of the HTTP proxy port. Merges what meets on a port. `skip`: an endpoint
// that gets no listener,
// "" for none. Source: Istio's buildSidecarOutboundListeners.
std::vector<OutboundListener> CollectOutbound(const Request& request, const Profiles& profiles,
                                              const model::AddressView& view, const ReservedPorts& reserved,
                                              std::string_view skip, OutboundReads* reads);

// The listener of MeshConfig.proxyHttpPort, or of the proxy's own metadata, for clients that ask an HTTP
// proxy.
std::optional<OutboundInputs> CollectHttpProxyPort(const mesh::ProxyScope& scope, const ProfilePtr& profile);

}  // namespace fairlead::gen::listener

#endif  // FAIRLEAD_GEN_LISTENER_OUTBOUND_COLLECT_H_
