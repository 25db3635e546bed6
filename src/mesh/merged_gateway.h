#ifndef FAIRLEAD_MESH_MERGED_GATEWAY_H_
#define FAIRLEAD_MESH_MERGED_GATEWAY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/labels.h"
#include "config/diagnostic.h"
#include "config/object.h"
#include "mesh/service_target.h"
#include "model/service.h"

namespace istio::networking::v1alpha3 {
class Server;
}  // namespace istio::networking::v1alpha3

namespace fairlead::mesh {

// One server of a Gateway as a router serves it. Immutable.
struct GatewayServer {
  config::ConfigPtr gateway;
  std::string gateway_name;  // "namespace/name", by which VirtualServices bind to it
  // "./host" has become "namespace/host", "*/host" just "host".
  std::shared_ptr<const istio::networking::v1alpha3::Server> spec;
  std::string route_name;              // "" where no route configuration belongs to it
  std::vector<std::string> sni_hosts;  // of a server with TLS: its hosts without namespaces, sorted, unique
};
using GatewayServerPtr = std::shared_ptr<const GatewayServer>;

// Servers that share a port of the router.
struct GatewayPort {
  uint32_t number = 0;     // where the router listens
  std::string protocol;    // as the first server writes it
  std::string bind;        // "" for any address
  std::string route_name;  // of plain HTTP servers; servers with TLS have their own
  std::vector<GatewayServerPtr> servers;
};

// All Gateways that select a router, as one. Immutable. Source: Istio's MergedGateway.
struct MergedGateway {
  std::vector<GatewayPort> ports;  // unique by (number, protocol, bind), in the order of their first servers
  std::map<std::string, std::vector<GatewayServerPtr>>
      servers_by_route;  // HTTP servers, by route configuration
  // For each port number in the route configurations' names, the ports that the Gateways write.
  std::map<uint32_t, std::set<uint32_t>> gateway_ports;
  bool auto_passthrough = false;                 // some server has TLS mode AUTO_PASSTHROUGH
  std::set<std::string> auto_passthrough_hosts;  // the hosts of such servers
  std::vector<config::Diagnostic> problems;      // servers that are left out
};
using MergedGatewayPtr = std::shared_ptr<const MergedGateway>;

// A Gateway that selects a router, and those of the router's services that it is reached by.
struct GatewayAttachment {
  config::ConfigPtr gateway;
  // It selects the router by labels: a port that no service has is taken as it is, else the first match
  // counts.
  bool by_labels = true;
  std::vector<ServiceTarget> targets;
  friend bool operator==(const GatewayAttachment&, const GatewayAttachment&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const GatewayAttachment& a) {
    return H::combine(std::move(h), a.gateway, a.by_labels, a.targets.size());
  }
};

// The Gateways among `gateways` (oldest first) that select a router with these labels and services.
std::vector<GatewayAttachment> AttachGateways(const std::vector<config::ConfigPtr>& gateways,
                                              const LabelMap& labels,
                                              const std::vector<ServiceTarget>& targets);

// Older Gateways go first: a server that cannot share its port with what is there is left out.
MergedGateway MergeGateways(const std::vector<GatewayAttachment>& attachments);

// Keeps merged gateways, so that routers with equal attachments share one, in whatever snapshot. Thread-safe.
class MergedGatewayCache {
 public:
  // Null where nothing is attached.
  MergedGatewayPtr Get(const std::vector<GatewayAttachment>& attachments);
  // Forgets what nobody holds.
  void Sweep();

 private:
  std::mutex mutex_;
  absl::flat_hash_map<std::vector<GatewayAttachment>, MergedGatewayPtr> merged_;
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_MERGED_GATEWAY_H_
