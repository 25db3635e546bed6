#ifndef FAIRLEAD_GEN_NAMING_CLUSTER_NAME_H_
#define FAIRLEAD_GEN_NAMING_CLUSTER_NAME_H_

#include <cstdint>
#include <string>
#include <string_view>

// The names that clusters have on the wire, shared by the generators that make clusters, endpoints, listeners
// and routes. Source: Istio's BuildSubsetKey, BuildDNSSrvSubsetKey and the constants of its networking
// package.
namespace fairlead::gen {

inline constexpr std::string_view kBlackHoleCluster = "BlackHoleCluster";
inline constexpr std::string_view kPassthroughCluster = "PassthroughCluster";
inline constexpr std::string_view kInboundPassthroughCluster = "InboundPassthroughCluster";
inline constexpr std::string_view kAllowAnyDynamicDnsCluster = "AllowAnyDynamicDNSCluster";
inline constexpr std::string_view kAllowAnyDnsCache = "allow_any_dfp_dns_cache";
// The bootstrap's EDS cluster of a proxy's own service (zone-aware load balancing).
inline constexpr std::string_view kSelfDiscoveryCluster = "local_cluster";

// "outbound|80|v1|reviews.default.svc.cluster.local"; the subset may be "".
std::string OutboundClusterName(uint32_t port, std::string_view subset, std::string_view host);
// "outbound_udp|53||dns.kube-system.svc.cluster.local": a port of UDP, which may have the number of one of
// TCP. Istio has no such clusters.
std::string UdpClusterName(uint32_t port, std::string_view host);
// "inbound|8080||".
std::string InboundClusterName(uint32_t port);
// "outbound_.80_.v1_.reviews.default.svc.cluster.local": the SNI of mutual TLS between sidecars, and the name
// of the clusters of gateways that pass such connections through.
std::string DnsSrvName(uint32_t port, std::string_view subset, std::string_view host);
// The DNS cache of a dynamic forward proxy for a wildcard host; the HTTP and the SNI filter name the same
// one.
std::string DnsCacheName(std::string_view host);

enum class Direction : uint8_t { kNone, kOutbound, kInbound };

// A name taken apart; views into the name. Direction kNone: it has none of the forms above.
struct ParsedClusterName {
  Direction direction = Direction::kNone;
  bool dns_srv = false;
  bool udp = false;
  uint32_t port = 0;
  std::string_view subset;
  std::string_view host;
};
ParsedClusterName ParseClusterName(std::string_view name);

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_NAMING_CLUSTER_NAME_H_
