#ifndef FAIRLEAD_GEN_LISTENER_CHAIN_H_
#define FAIRLEAD_GEN_LISTENER_CHAIN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "gen/listener/connection_manager.h"
#include "model/protocol.h"

namespace envoy::config::listener::v3 {
class FilterChain;
}

// The values behind a filter chain; Collect fills them in and Build turns them into messages.
namespace fairlead::gen::listener {

class EncodedFragments;

struct WeightedCluster {
  std::string name;
  uint32_t weight = 0;
  friend bool operator==(const WeightedCluster&, const WeightedCluster&) = default;
};

// TrafficPolicy.tunnel: connections go on inside an HTTP request to `target`.
struct Tunnel {
  std::string target;
  bool post = false;
  friend bool operator==(const Tunnel&, const Tunnel&) = default;
};

// Connections forwarded byte by byte.
struct TcpForward {
  std::string stat_prefix;
  std::vector<WeightedCluster> clusters;             // never empty
  bool weighted = false;                             // false: one cluster, its weight means nothing
  model::Protocol protocol = model::Protocol::kTcp;  // decides on filters that understand it (Mongo)
  std::optional<int64_t> idle_timeout;               // nanoseconds
  std::optional<int64_t> max_duration;
  bool hash_source_ip = false;
  std::optional<Tunnel> tunnel;
  std::string dynamic_dns_host;  // wildcard service with resolution DYNAMIC_DNS: found by SNI; or ""
  uint32_t dynamic_dns_port = 0;
  bool access_log = true;

  friend bool operator==(const TcpForward&, const TcpForward&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const TcpForward& f) {
    return H::combine(std::move(h), f.stat_prefix, f.clusters.size(), f.idle_timeout.value_or(0),
                      f.hash_source_ip);
  }
};

// Requests, routed by a route configuration that is asked for by name.
struct HttpForward {
  std::string route_name;
  HttpOptions options;

  friend bool operator==(const HttpForward&, const HttpForward&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const HttpForward& f) {
    return H::combine(std::move(h), f.route_name, f.options);
  }
};

// One filter chain of an outbound listener.
struct OutboundChain {
  std::vector<std::string> sni_hosts;
  std::vector<std::string> destinations;  // addresses and CIDR ranges
  bool sniffed_http = false;              // for plaintext that the HTTP inspector takes for HTTP
  std::string config_path;                // of the VirtualService that it comes from, for metadata; or ""
  std::variant<TcpForward, HttpForward> forward;

  bool http() const { return std::holds_alternative<HttpForward>(forward); }
  // Whether it matches every connection, and so becomes the default. Source: Istio's
  // filterChainOpts.isMatchAll.
  bool MatchesAll() const;
  friend bool operator==(const OutboundChain&, const OutboundChain&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const OutboundChain& c) {
    h = H::combine(std::move(h), c.sni_hosts, c.destinations, c.sniffed_http, c.config_path);
    return std::visit([&h](const auto& forward) { return H::combine(std::move(h), forward); }, c.forward);
  }
};

// Whether Envoy would see two equal matches and refuse the listener. Source: Istio's
// filterChainOpts.conflictsWith.
bool ChainsConflict(const OutboundChain& a, const OutboundChain& b);

// Appends the filters: statistics, protocol filters, the TCP proxy. Pure.
void AddTcpFilters(const EncodedFragments& fragments, TrafficClass traffic, const TcpForward& forward,
                   envoy::config::listener::v3::FilterChain* out);
// Appends the filter for the exchange of workload metadata between two sidecars; none for a proxy without the
// extension. Pure.
void AddMetadataExchangeFilter(const EncodedFragments& fragments,
                               envoy::config::listener::v3::FilterChain* out);
// Appends the filters of AuthorizationPolicies and plugins for connections; `port` is what plugins match.
// Pure.
void AddAccessFilters(const EncodedFragments& fragments, TrafficClass traffic, uint32_t port,
                      envoy::config::listener::v3::FilterChain* out);
// Appends the plugins for connections that stand before a connection manager. Pure.
void AddNetworkPlugins(const EncodedFragments& fragments, TrafficClass traffic, uint32_t port,
                       envoy::config::listener::v3::FilterChain* out);
// Appends the connection manager. `route` is an encoded HttpConnectionManager that holds its stat_prefix and
// route specifier only.
void AddHttpFilters(const EncodedFragments& fragments, const HttpOptions& options, const std::string& route,
                    envoy::config::listener::v3::FilterChain* out);

}  // namespace fairlead::gen::listener

#endif  // FAIRLEAD_GEN_LISTENER_CHAIN_H_
