#ifndef FAIRLEAD_GEN_LISTENER_TLS_CONTEXT_H_
#define FAIRLEAD_GEN_LISTENER_TLS_CONTEXT_H_

#include <cstdint>

namespace envoy::config::core::v3 {
class TransportSocket;
}

namespace fairlead::gen::listener {

struct ProxyTraits;

// The protocol inside the TLS of a filter chain; it decides on the offered ALPN.
enum class Inner : uint8_t { kHttp, kTcp };

// The transport socket of a filter chain that terminates mutual TLS between workloads: the workload's
// certificate, peers of the mesh's trust domains. Pure. Source: Istio's BuildInboundTLS.
void SetMutualTls(const ProxyTraits& traits, Inner inner, envoy::config::core::v3::TransportSocket* out);

}  // namespace fairlead::gen::listener

#endif  // FAIRLEAD_GEN_LISTENER_TLS_CONTEXT_H_
