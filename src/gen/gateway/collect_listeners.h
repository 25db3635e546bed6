#ifndef FAIRLEAD_GEN_GATEWAY_COLLECT_LISTENERS_H_
#define FAIRLEAD_GEN_GATEWAY_COLLECT_LISTENERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/strings.h"
#include "gen/gateway/listener_inputs.h"
#include "mesh/view/view.h"

namespace fairlead::gen::gateway {

// The listeners of a router, sorted by name. A port that its workload may not open is left out. Source:
// Istio's buildGatewayListeners.
std::vector<GatewayListenerInputs> CollectListeners(mesh::View& view,
                                                    const listener::EncodedFragmentsPtr& fragments);

// Whether routes to InferencePools name the Gateway of the Gateway API that the router is deployed for.
// Source: Istio's HasInferencePool.
bool PicksEndpoints(mesh::View& view);

// The SNI hosts that TLS routes have taken, by port: the address that they are taken on.
using TakenHosts = absl::flat_hash_map<uint32_t, StringMap<std::string>>;

// The chains of a server without an HTTP connection manager. It has one for the first matching TCP route, or
// one for each TLS route with passthrough. None where no VirtualService has a route for it. Source: Istio's
// createGatewayTCPFilterChainOpts.
std::vector<GatewayChain> CollectStreamChains(mesh::View& view, const listener::ProxyTraits& traits,
                                              const mesh::GatewayServerPtr& server, uint32_t port,
                                              TakenHosts* taken);

// How a server decrypts.
Termination TerminationOf(mesh::View& view, const mesh::GatewayServerPtr& server);

}  // namespace fairlead::gen::gateway

#endif  // FAIRLEAD_GEN_GATEWAY_COLLECT_LISTENERS_H_
