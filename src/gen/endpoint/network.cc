#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "base/ip_address.h"
#include "envoy/config/endpoint/v3/endpoint_components.pb.h"
#include "gen/endpoint/build.h"
#include "proto/messages.h"

namespace fairlead::gen {
namespace {

namespace ep = envoy::config::endpoint::v3;
using Gateways = std::vector<const model::NetworkGateway*>;

// The gateways of all networks as one client may use them. Over EDS only those with IP addresses count; a DNS
// cluster resolves names itself.
class GatewayTable {
 public:
  explicit GatewayTable(const EndpointInputs& inputs) : client_(inputs.client) {
    for (const model::NetworkGateway& gateway : inputs.networks->All()) {
      if (inputs.inline_endpoints || IsIpAddress(gateway.address)) all_.push_back(&gateway);
    }
    std::sort(all_.begin(), all_.end(), [](const auto* a, const auto* b) {
      return std::tie(a->address, a->port) < std::tie(b->address, b->port);
    });
    std::map<Interned, uint32_t> by_network;
    std::map<std::pair<Interned, Interned>, uint32_t> by_cluster;
    for (const auto* gateway : all_) {
      ++by_network[gateway->network];
      ++by_cluster[{gateway->network, gateway->cluster}];
    }
    for (const auto& [network, count] : by_network) scale_ = std::lcm(scale_, count);
    for (const auto& [cluster, count] : by_cluster) scale_ = std::lcm(scale_, count);
  }

  bool empty() const { return all_.empty(); }
  // By this a weight is divisible among the gateways of every network.
  uint32_t scale() const { return scale_; }

  // Those of the endpoint's own cluster in its network, else all of the network; sidecars need a port for
  // mutual TLS.
  Gateways For(const Interned& network, const Interned& cluster) const {
    Gateways chosen;
    for (const auto* gateway : all_) {
      if (gateway->network == network && gateway->cluster == cluster) chosen.push_back(gateway);
    }
    if (chosen.empty()) {
      std::copy_if(all_.begin(), all_.end(), std::back_inserter(chosen),
                   [&network](const auto* gateway) { return gateway->network == network; });
    }
    if (client_.sidecar) std::erase_if(chosen, [](const auto* gateway) { return gateway->port == 0; });
    return chosen;
  }

  // Those of an address family that the client has.
  Gateways Reachable(Gateways gateways) const {
    if (client_.ipv4 == client_.ipv6) return gateways;
    std::erase_if(gateways, [this](const auto* gateway) {
      const std::optional<IpAddress> ip = IpAddress::Parse(gateway->address);
      return !ip || (ip->is_v4() ? !client_.ipv4 : !client_.ipv6);
    });
    return gateways;
  }

 private:
  const EndpointClient& client_;
  Gateways all_;
  uint32_t scale_ = 1;
};

uint32_t ScaledWeight(const ep::LbEndpoint& endpoint, uint32_t scale) {
  constexpr uint32_t kMax = std::numeric_limits<uint32_t>::max();
  const uint32_t weight = endpoint.load_balancing_weight().value();
  if (weight == 0) return scale;
  return weight < kMax / scale ? weight * scale : kMax;
}

bool SameNetwork(const Interned& a, const Interned& b) { return a.empty() || b.empty() || a == b; }

// A gateway as an endpoint: what is known of the workloads behind it is that they speak mutual TLS.
void BuildGateway(const EndpointInputs& inputs, const model::NetworkGateway& gateway, uint32_t weight,
                  ep::LbEndpoint* out) {
  proto::SetAddress(gateway.address, gateway.port, out->mutable_endpoint()->mutable_address());
  out->mutable_load_balancing_weight()->set_value(std::max(weight, 1u));
  model::Workload behind;
  behind.cluster = gateway.cluster;
  SetEndpointMetadata(inputs, behind, kTlsModeIstio, out);
}

struct ByAddress {
  bool operator()(const model::NetworkGateway* a, const model::NetworkGateway* b) const {
    return std::tie(a->address, a->port, a->network, a->cluster) <
           std::tie(b->address, b->port, b->network, b->cluster);
  }
};

LocalityGroup RouteGroup(const EndpointInputs& inputs, const GatewayTable& table, LocalityGroup* group) {
  LocalityGroup routed;
  *routed.message.mutable_locality() = group->message.locality();
  std::map<const model::NetworkGateway*, uint32_t, ByAddress> gateway_weights;
  const Interned& own = inputs.client.network;
  for (size_t i = 0; i < group->members.size(); ++i) {
    const model::Endpoint& endpoint = *group->members[i].endpoint;
    const Interned& network = endpoint.workload->network;
    auto* message = group->message.mutable_lb_endpoints(static_cast<int>(i));
    const uint32_t weight = ScaledWeight(*message, table.scale());
    message->mutable_load_balancing_weight()->set_value(weight);
    const Gateways gateways = table.For(network, endpoint.workload->cluster);
    // A client that does not know its network goes through the gateway of those who do.
    const bool unknown = own.empty() && !network.empty() && !gateways.empty();
    if (!unknown && (SameNetwork(own, network) || gateways.empty())) {
      if (endpoint.addresses[0].empty() || endpoint.port == 0) continue;
      routed.message.add_lb_endpoints()->Swap(message);
      routed.members.push_back(group->members[i]);
      continue;
    }
    const Gateways reachable = table.Reachable(gateways);
    // Between networks, the SNI of mutual TLS tells the gateway where to: without it there is no way.
    if (reachable.empty() || !SpeaksMutualTls(*message)) continue;
    for (const auto* gateway : reachable) {
      gateway_weights[gateway] += weight / static_cast<uint32_t>(reachable.size());
    }
  }
  for (const auto& [gateway, weight] : gateway_weights) {
    BuildGateway(inputs, *gateway, weight, routed.message.add_lb_endpoints());
    routed.members.push_back({.gateway = gateway});
  }
  RefreshWeight(&routed.message);
  return routed;
}

}  // namespace

std::vector<LocalityGroup> RouteThroughGateways(const EndpointInputs& inputs,
                                                std::vector<LocalityGroup> groups) {
  const GatewayTable table(inputs);
  if (table.empty()) return groups;
  for (LocalityGroup& group : groups) group = RouteGroup(inputs, table, &group);
  return groups;
}

}  // namespace fairlead::gen
