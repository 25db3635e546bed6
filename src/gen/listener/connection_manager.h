#ifndef FAIRLEAD_GEN_LISTENER_CONNECTION_MANAGER_H_
#define FAIRLEAD_GEN_LISTENER_CONNECTION_MANAGER_H_

#include <cstdint>
#include <string>

#include "gen/telemetry/view.h"
#include "model/protocol.h"

namespace envoy::extensions::filters::network::http_connection_manager::v3 {
class HttpConnectionManager;
}

namespace fairlead::gen::listener {

using telemetry::TrafficClass;
struct ProxyTraits;

// The values of one HTTP connection manager, apart from the proxy's traits, its statistics prefix and its
// routes.
struct HttpOptions {
  TrafficClass traffic = TrafficClass::kOutbound;
  // The protocol of the (first) service: gRPC-Web brings a filter, HTTP/2 on the inbound side its options.
  model::Protocol protocol = model::Protocol::kUnsupported;
  bool forward_proxy_port = false;  // MeshConfig.proxyHttpPort: takes absolute URLs
  uint32_t port = 0;                // which plugins are matched with; set by Build
  bool http3 = false;               // the connections are QUIC's
  std::string dynamic_dns_host;     // a wildcard service with resolution DYNAMIC_DNS; "" otherwise

  friend bool operator==(const HttpOptions&, const HttpOptions&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const HttpOptions& o) {
    return H::combine(std::move(h), o.traffic, o.protocol, o.forward_proxy_port, o.http3, o.dynamic_dns_host);
  }
};

// Everything of a connection manager but its stat_prefix and its routes. Pure. Source: Istio's
// buildHTTPConnectionManager.
void SetConnectionManager(
    const ProxyTraits& traits, const HttpOptions& options,
    envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager* out);

// The route configuration is fetched by name over ADS.
void SetRouteDiscovery(
    const std::string& route_name,
    envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager* out);

}  // namespace fairlead::gen::listener

#endif  // FAIRLEAD_GEN_LISTENER_CONNECTION_MANAGER_H_
