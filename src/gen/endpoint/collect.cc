#include "gen/endpoint/collect.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/ip_address.h"
#include "base/strings.h"
#include "gen/endpoint/build.h"
#include "gen/endpoint/client_class.h"
#include "gen/endpoint/mutual_tls.h"
#include "gen/naming/cluster_name.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "model/host_name.h"
#include "model/proxyless.h"

namespace fairlead::gen {
namespace {

// Whether the gateways that count here make the mesh one of several networks.
bool OtherNetworks(const mesh::NetworkIndex& networks, bool inline_endpoints) {
  const auto& all = networks.All();
  return std::any_of(all.begin(), all.end(), [inline_endpoints](const model::NetworkGateway& gateway) {
    return inline_endpoints || IsIpAddress(gateway.address);
  });
}

void CollectNetworks(const mesh::MeshSnapshot& snapshot, const model::Proxy& proxy, EndpointInputs* inputs) {
  EndpointClient& client = inputs->client;
  client.network_view = proxy.metadata.requested_network_view;
  std::sort(client.network_view.begin(), client.network_view.end());
  if (!OtherNetworks(*snapshot.networks, inputs->inline_endpoints)) return;
  inputs->networks = snapshot.networks;
  client.other_networks = true;
  client.network = proxy.metadata.network;
  client.sidecar = proxy.type == model::ProxyType::kSidecar;
  client.ipv4 = proxy.supports_ipv4;
  client.ipv6 = proxy.supports_ipv6;
}

void CollectSelfDiscovery(const mesh::ProxyScope& scope, EndpointClient* client) {
  client->locality = scope.locality;
  client->workload_name = scope.proxy->metadata.workload_name;
  client->pod_template_hash = LabelOr(scope.labels, "pod-template-hash");
  client->rollout_template_hash = LabelOr(scope.labels, "rollouts-pod-template-hash");
}

bool SendsNoTunnels(const model::Proxy& proxy) {
  return proxy.metadata.disable_hbone_send || model::IsProxyless(proxy);
}

// What all assignments of a known service need.
void CollectService(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope,
                    EndpointInputs* inputs) {
  const model::Proxy& proxy = *scope.proxy;
  const model::Service& service = *inputs->service;
  inputs->settings = snapshot.settings;
  inputs->endpoints = snapshot.endpoints->Find(service.hostname, service.ns);
  inputs->peer_policies = CollectPeerPolicies(*snapshot.peer_authentications, *inputs);
  inputs->cluster_local = IsClusterLocal(*snapshot.settings, service.hostname);
  EndpointClient& client = inputs->client;
  client.waypoint = proxy.type == model::ProxyType::kWaypoint;
  client.no_tunnel = SendsNoTunnels(proxy);
  if (service.node_local || inputs->cluster_local) client.cluster = proxy.metadata.cluster_id;
  if (service.node_local) client.node_name = proxy.metadata.node_name;
  if (service.node_local) inputs->client_reads |= kReadsSelf;
  if (scope.sidecar->RuleDependsOnLabels(service.hostname)) inputs->client_reads |= kReadsLabels;
  CollectNetworks(snapshot, proxy, inputs);
}

model::ServicePtr FindService(const mesh::ProxyScope& scope, std::string_view host) {
  const auto it = scope.sidecar->services_by_host.find(host);
  return it == scope.sidecar->services_by_host.end() ? nullptr : it->second;
}

// The proxy's own service is the first that it serves.
EndpointInputs CollectOwnService(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope) {
  EndpointInputs inputs;
  inputs.cluster_name = kSelfDiscoveryCluster;
  inputs.self_discovery = true;
  inputs.client_reads = kReadsLocality | kReadsLabels | kReadsSelf;
  if (scope.targets.empty()) return inputs;
  inputs.service = FindService(scope, scope.targets.front().service->hostname);
  if (inputs.service == nullptr) return inputs;
  inputs.port = scope.targets.front().port->port;
  CollectService(snapshot, scope, &inputs);
  CollectSelfDiscovery(scope, &inputs.client);
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

EndpointInputs CollectEndpoints(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope,
                                std::string_view cluster_name) {
  if (cluster_name == kSelfDiscoveryCluster) return CollectOwnService(snapshot, scope);
  EndpointInputs inputs;
  inputs.cluster_name = cluster_name;
  const ParsedClusterName name = ParseClusterName(cluster_name);
  model::ServicePtr service = FindService(scope, name.host);
  // A service that became one of DNS meanwhile has its endpoints in its cluster.
  if (service == nullptr || service->FindTcpPort(name.port) == nullptr || IsDns(*service)) return inputs;
  inputs.service = std::move(service);
  inputs.port = name.port;
  inputs.subset = name.subset;
  inputs.dns_srv = name.dns_srv;
  inputs.rule =
      scope.sidecar->FindDestinationRule(inputs.service->hostname, inputs.service->ns, scope.labels);
  CollectService(snapshot, scope, &inputs);
  CollectLocality(EndpointPolicy(inputs), scope, &inputs);
  return inputs;
}

void CollectLocality(const EffectivePolicy& effective, const mesh::ProxyScope& scope,
                     EndpointInputs* inputs) {
  EndpointClient& client = inputs->client;
  const LocalityPolicy policy =
      ResolveLocalityPolicy(*inputs->settings->mesh, effective.load_balancer, *inputs->service);
  const LocalityNeeds needs = NeedsOf(policy, effective.outlier_detection != nullptr);
  if (needs.locality) client.locality = scope.locality;
  if (needs.by_labels) client.labelled = !scope.labels.empty();
  if (needs.locality) inputs->client_reads |= kReadsLocality;
  if (needs.by_labels) inputs->client_reads |= kReadsLabels;
  for (std::string_view key : needs.labels) {
    if (auto it = scope.labels.find(key); it != scope.labels.end()) client.labels.insert(*it);
  }
}

EndpointInputs CollectInlineEndpoints(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope,
                                      std::string_view cluster_name, const model::ServicePtr& service,
                                      uint32_t port, std::string_view subset,
                                      const mesh::DestinationRulePtr& rule) {
  EndpointInputs inputs;
  inputs.cluster_name = cluster_name;
  inputs.service = service;
  inputs.port = port;
  inputs.subset = subset;
  inputs.dns_srv = ParseClusterName(cluster_name).dns_srv;
  inputs.inline_endpoints = true;
  inputs.rule = rule;
  CollectService(snapshot, scope, &inputs);
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

ClientKind::ClientKind(const model::Proxy& proxy)
    : type(proxy.type),
      cluster(proxy.metadata.cluster_id),
      network(proxy.metadata.network),
      network_view(proxy.metadata.requested_network_view),
      ipv4(proxy.supports_ipv4),
      ipv6(proxy.supports_ipv6),
      no_tunnel(SendsNoTunnels(proxy)) {}

ClientClass::ClientClass(const mesh::ProxyScope& scope)
    : imports_id(scope.sidecar->imports_id),
      sidecar(imports_id == 0 ? scope.sidecar : nullptr),
      kind(*scope.proxy) {}

}  // namespace fairlead::gen
