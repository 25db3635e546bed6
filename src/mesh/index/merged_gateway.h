#ifndef FAIRLEAD_MESH_INDEX_MERGED_GATEWAY_H_
#define FAIRLEAD_MESH_INDEX_MERGED_GATEWAY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/interned.h"
#include "config/object.h"

namespace istio::networking::v1alpha3 {
class Server;
}

// What a router serves: all Gateways that select it as one. Immutable values; a part keeps its pointer from
// one merge to the next while it stays the same.
namespace fairlead::mesh {

// One server of a Gateway object.
struct GatewayServer {
  config::ConfigPtr gateway;
  int index = 0;     // in the object's list
  Interned name;     // of the Gateway, "namespace/name"
  bool tls = false;  // has TLS settings, be it only httpsRedirect
  bool terminates_https = false;
  bool udp = false;                    // of a Gateway API listener of protocol UDP: it takes datagrams
  std::vector<std::string> hosts;      // "host" for VirtualServices of any namespace, or "namespace/host"
  std::vector<std::string> sni_hosts;  // the same without namespaces, sorted, each once; empty without TLS
  std::string route_name;              // of HTTP and terminated HTTPS; "" for all others

  const istio::networking::v1alpha3::Server& spec() const;
  friend bool operator==(const GatewayServer&, const GatewayServer&) = default;
};
using GatewayServerPtr = std::shared_ptr<const GatewayServer>;

// The servers of one port, protocol and address. Several ports may have one address and number: they share
// the listener, but for one of UDP.
struct GatewayPort {
  uint32_t number = 0;     // where the router listens
  std::string protocol;    // as the first server spells it
  std::string bind;        // "" for all addresses
  std::string route_name;  // of plaintext HTTP, which all servers share; else each server has its own
  std::vector<GatewayServerPtr> servers;
  std::vector<GatewayServerPtr> quic_servers;  // those that HTTP/3 is offered for, over UDP

  bool udp() const { return !servers.empty() && servers.front()->udp; }
};

// The servers whose hosts one route configuration is for.
struct GatewayRoute {
  std::vector<GatewayServerPtr> servers;  // in order; never empty
  bool http3 = false;                     // clients are told of HTTP/3
};
using GatewayRoutePtr = std::shared_ptr<const GatewayRoute>;

struct MergedGateway {
  std::shared_ptr<const std::vector<GatewayPort>> ports;  // never null; in the order of their first servers
  absl::flat_hash_map<Interned, GatewayRoutePtr> routes;  // by the name of the route configuration
  // The Gateways' names, sorted; those whose servers are all refused, too. Never null.
  std::shared_ptr<const std::vector<Interned>> names;
  // The hosts of servers that pass mutual TLS through, sorted; null where there is no such server.
  std::shared_ptr<const std::vector<std::string>> auto_passthrough_hosts;
  // Every server of every Gateway, those that are refused, too: their credentials count. Never null.
  std::shared_ptr<const std::vector<GatewayServerPtr>> servers;

  friend bool operator==(const MergedGateway& a, const MergedGateway& b);
};
using MergedGatewayPtr = std::shared_ptr<const MergedGateway>;  // null: no Gateway selects the router

bool operator==(const GatewayPort& a, const GatewayPort& b);
bool operator==(const GatewayRoute& a, const GatewayRoute& b);

// Where a router's workload listens for a port of one of its services.
struct GatewayTarget {
  Interned hostname, ns;     // of the service
  uint32_t port = 0;         // the service's
  uint32_t target_port = 0;  // the workload's
  bool udp = false;
  // The service has the label experimental.istio.io/disable-gateway-port-translation.
  bool untranslated = false;
  friend bool operator==(const GatewayTarget&, const GatewayTarget&) = default;
};

// A Gateway that selects the router.
struct SelectedGateway {
  config::ConfigPtr object;
  // The Gateway names services instead of labels (as those of the Gateway API do): it serves on their target
  // ports alone.
  bool by_service = false;
  std::vector<GatewayTarget> targets;  // that count for it
};

struct GatewayMergeOptions {
  bool quic = false;  // Istio's PILOT_ENABLE_QUIC_LISTENERS
};

// Merges Gateways, oldest first. A server that conflicts with one before it is left out: another protocol on
// its port and address, a host of a TLS server twice. Ports of UDP are apart from the others; HTTP/3 yields
// to them. Parts that are as in `like` (may be null) keep their pointers. Source: Istio's
// model.mergeGateways.
MergedGateway MergeGateways(const std::vector<SelectedGateway>& gateways, const GatewayMergeOptions& options,
                            const MergedGateway* like);

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_MERGED_GATEWAY_H_
