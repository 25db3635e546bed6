#include "gen/endpoint/collect.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/ip_address.h"
#include "base/strings.h"
#include "gen/endpoint/build.h"
#include "gen/endpoint/mutual_tls.h"
#include "gen/naming/cluster_name.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "model/host_name.h"

namespace fairlead::gen {
namespace {

// Whether the gateways that count here make the mesh one of several networks.
bool OtherNetworks(const mesh::NetworkIndex& networks, bool inline_endpoints) {
  const auto& all = networks.All();
  return std::any_of(all.begin(), all.end(), [inline_endpoints](const model::NetworkGateway& gateway) {
    return inline_endpoints || IsIpAddress(gateway.address);
  });
}

void CollectNetworks(mesh::View& view, EndpointInputs* inputs) {
  const model::ProxyClass& proxy = view.proxy_class();
  EndpointClient& client = inputs->client;
  client.network_view = proxy.network_view;
  if (!OtherNetworks(*view.networks(), inputs->inline_endpoints)) return;
  inputs->networks = view.networks();
  client.other_networks = true;
  client.network = proxy.network;
  client.sidecar = proxy.type == model::ProxyType::kSidecar;
  client.ipv4 = proxy.ipv4;
  client.ipv6 = proxy.ipv6;
}

void CollectSelfDiscovery(mesh::View& view, EndpointClient* client) {
  client->locality = view.locality();
  client->workload_name = view.workload_name();
  client->pod_template_hash = view.Label("pod-template-hash");
  client->rollout_template_hash = view.Label("rollouts-pod-template-hash");
}

// Whether some endpoints are for proxies of their own cluster alone.
bool KeepsEndpoints(const EndpointInputs& inputs) {
  if (!inputs.settings->features.mcs_discovery || inputs.endpoints == nullptr) return false;
  const auto& shards = inputs.endpoints->shards;
  return std::any_of(shards.begin(), shards.end(), [](const model::EndpointShard& shard) {
    return std::any_of(shard.endpoints.begin(), shard.endpoints.end(),
                       [](const model::Endpoint& endpoint) { return endpoint.own_cluster_only; });
  });
}

// What all assignments of a known service need.
void CollectService(mesh::View& view, EndpointInputs* inputs) {
  const model::ProxyClass& proxy = view.proxy_class();
  const model::Service& service = *inputs->service;
  inputs->settings = view.settings(model::SettingsPart::kEndpoints);
  inputs->endpoints = view.Endpoints(service.hostname, service.ns);
  if (!inputs->udp) inputs->peer_policies = CollectPeerPolicies(view, *inputs);
  inputs->cluster_local = IsClusterLocal(*inputs->settings, service.hostname);
  EndpointClient& client = inputs->client;
  client.waypoint = proxy.type == model::ProxyType::kWaypoint;
  client.no_tunnel = !proxy.sends_tunnels;
  if (service.node_local || inputs->cluster_local || KeepsEndpoints(*inputs))
    client.cluster = proxy.cluster_id;
  if (service.node_local) client.node_name = view.node_name();
  CollectNetworks(view, inputs);
}

// The proxy's own service is the first that it serves.
EndpointInputs CollectOwnService(mesh::View& view) {
  EndpointInputs inputs;
  inputs.cluster_name = kSelfDiscoveryCluster;
  inputs.self_discovery = true;
  const std::vector<mesh::ServiceTarget>& targets = view.targets();
  if (targets.empty()) return inputs;
  inputs.service = view.Imported(targets.front().service->hostname);
  if (inputs.service == nullptr) return inputs;
  inputs.port = targets.front().port->port;
  CollectService(view, &inputs);
  CollectSelfDiscovery(view, &inputs.client);
  return inputs;
}

std::vector<std::string> DefaultClusterLocalHosts(const model::Settings& settings) {
  const std::string& discovery = settings.mesh->default_config().discovery_address();
  std::string control_plane = discovery.substr(0, discovery.rfind(':'));
  if (!control_plane.ends_with(settings.domain)) StrAppend(&control_plane, ".", settings.domain);
  return {StrCat("*.kube-system.svc.", settings.domain), StrCat("kubernetes.default.svc.", settings.domain),
          std::move(control_plane)};
}

// The most specific of the hosts that cover one, and what it says.
struct HostMatch {
  std::string pattern;
  bool local = false;

  void Offer(std::string_view host, const std::string& candidate, bool says) {
    const bool covers = model::IsWildcard(candidate) ? host.ends_with(std::string_view(candidate).substr(1))
                                                     : host == candidate;
    if (!covers || (!pattern.empty() && pattern != candidate && !model::MoreSpecificHost(candidate, pattern)))
      return;
    pattern = candidate;
    local = says;
  }
};

bool IsDns(const model::Service& service) {
  return service.resolution == model::Resolution::kDnsLb ||
         service.resolution == model::Resolution::kDnsRoundRobinLb;
}

}  // namespace

EndpointInputs CollectEndpoints(mesh::View& view, std::string_view cluster_name) {
  if (cluster_name == kSelfDiscoveryCluster) return CollectOwnService(view);
  EndpointInputs inputs;
  inputs.cluster_name = cluster_name;
  const ParsedClusterName name = ParseClusterName(cluster_name);
  model::ServicePtr service = view.Imported(name.host);
  // A service that became one of DNS meanwhile has its endpoints in its cluster.
  if (service == nullptr || IsDns(*service)) return inputs;
  inputs.service = std::move(service);
  inputs.port = name.port;
  inputs.udp = name.udp;
  if (inputs.FindPort() == nullptr) {
    inputs.service = nullptr;
    return inputs;
  }
  inputs.subset = name.subset;
  inputs.dns_srv = name.dns_srv;
  inputs.rule = view.Rule(inputs.service->hostname);
  CollectService(view, &inputs);
  CollectLocality(EndpointPolicy(inputs), view, &inputs);
  return inputs;
}

void CollectLocality(const EffectivePolicy& effective, mesh::View& view, EndpointInputs* inputs) {
  EndpointClient& client = inputs->client;
  const LocalityPolicy policy =
      ResolveLocalityPolicy(*inputs->settings->mesh, effective.load_balancer, *inputs->service);
  const LocalityNeeds needs = NeedsOf(policy, effective.outlier_detection != nullptr);
  if (needs.locality) client.locality = view.locality();
  if (needs.by_labels) client.labelled = view.IsLabelled();
  for (std::string_view key : needs.labels) {
    if (const auto value = view.FindLabel(key)) client.labels.emplace(key, *value);
  }
}

EndpointInputs CollectInlineEndpoints(mesh::View& view, std::string_view cluster_name,
                                      const model::ServicePtr& service, uint32_t port,
                                      std::string_view subset, const mesh::DestinationRulePtr& rule) {
  EndpointInputs inputs;
  inputs.cluster_name = cluster_name;
  inputs.service = service;
  inputs.port = port;
  inputs.subset = subset;
  const ParsedClusterName name = ParseClusterName(cluster_name);
  inputs.dns_srv = name.dns_srv;
  inputs.udp = name.udp;
  inputs.inline_endpoints = true;
  inputs.rule = rule;
  CollectService(view, &inputs);
  return inputs;
}

bool IsClusterLocal(const model::Settings& settings, std::string_view host) {
  std::vector<std::string> defaults = DefaultClusterLocalHosts(settings);
  HostMatch best;
  for (const auto& setting : settings.mesh->service_settings()) {
    const bool local = setting.settings().cluster_local();
    for (const std::string& pattern : setting.hosts()) {
      best.Offer(host, pattern, local);
      // A host that is explicitly not local takes back the default that covers it, as a whole.
      if (!local) {
        std::erase_if(defaults, [&pattern](const std::string& d) {
          return d == pattern || (model::IsWildcard(d) && pattern.ends_with(std::string_view(d).substr(1)));
        });
      }
    }
  }
  for (const std::string& pattern : defaults) best.Offer(host, pattern, true);
  return best.local;
}

}  // namespace fairlead::gen
