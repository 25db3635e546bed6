#ifndef FAIRLEAD_GEN_GATEWAY_BUILD_UDP_LISTENER_H_
#define FAIRLEAD_GEN_GATEWAY_BUILD_UDP_LISTENER_H_

#include "gen/gateway/listener_inputs.h"

namespace envoy::config::listener::v3 {
class Listener;
}

namespace fairlead::gen::gateway {

// The address, and the UDP proxy that sends datagrams to clusters by their weights. A client's socket (its
// source port) stays with one cluster. Shares without a cluster are dropped. Pure. Source: Envoy's UDP proxy
// and its matchers. REQUIRES: the inputs have a datagram forward.
void SetUdpProxy(const GatewayListenerInputs& inputs, envoy::config::listener::v3::Listener* out);

}  // namespace fairlead::gen::gateway

#endif  // FAIRLEAD_GEN_GATEWAY_BUILD_UDP_LISTENER_H_
