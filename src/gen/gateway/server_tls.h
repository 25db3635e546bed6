#ifndef FAIRLEAD_GEN_GATEWAY_SERVER_TLS_H_
#define FAIRLEAD_GEN_GATEWAY_SERVER_TLS_H_

#include "gen/gateway/listener_inputs.h"

namespace envoy::config::core::v3 {
class TransportSocket;
}

namespace fairlead::gen::gateway {

// The transport socket of a chain that decrypts as a Gateway's server says: its certificates by name, from
// files or the workload's own, what is asked of clients, versions and ciphers. REQUIRES: termination.server.
// Pure. Source: Istio's BuildListenerTLSContext; API: ServerTLSSettings.
void SetServerTls(const listener::ProxyTraits& traits, const Termination& termination, bool quic,
                  envoy::config::core::v3::TransportSocket* out);

}  // namespace fairlead::gen::gateway

#endif  // FAIRLEAD_GEN_GATEWAY_SERVER_TLS_H_
