#include "gen/endpoint/build.h"

#include <google/protobuf/struct.pb.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "base/ip_address.h"
#include "base/strings.h"
#include "envoy/config/endpoint/v3/endpoint.pb.h"
#include "gen/endpoint/mutual_tls.h"
#include "gen/naming/inference_pool.h"
#include "gen/naming/metadata.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "proto/messages.h"

namespace fairlead::gen {
namespace {

namespace ep = envoy::config::endpoint::v3;

constexpr std::string_view kTunnelLabel = "networking.istio.io/tunnel";
constexpr std::string_view kManagedGatewayLabel = "gateway.istio.io/managed";

bool HasLabel(const LabelMap& labels, std::string_view key) { return !LabelOr(labels, key).empty(); }

bool LabelledDraining(const model::Features& features, const model::Workload& workload) {
  return !features.draining_label.empty() && HasLabel(workload.labels, features.draining_label);
}

// Unhealthy endpoints are sent, so that Envoy knows how many there are, unless a panic threshold would then
// send traffic to them. Traffic distribution needs them in any case.
bool SendsUnhealthy(const EndpointInputs& inputs) {
  const model::Features& features = inputs.settings->features;
  if (features.send_unhealthy) return true;
  if (inputs.service->traffic_distribution != model::TrafficDistribution::kAny) return true;
  if (!features.send_unhealthy_by_default) return false;
  if (inputs.rule == nullptr) return true;
  const EffectivePolicy policy = EndpointPolicy(inputs);
  return policy.outlier_detection == nullptr || policy.outlier_detection->min_health_percent() <= 0;
}

// Which endpoints a client may have at all, before subsets, networks and weights.
class EndpointFilter {
 public:
  explicit EndpointFilter(const EndpointInputs& inputs)
      : in_(inputs),
        client_(inputs.client),
        unhealthy_(SendsUnhealthy(inputs)),
        sessions_(HasLabel(inputs.service->labels, inputs.settings->features.session_label)) {}

  bool Admits(const model::Endpoint& endpoint) const {
    const model::Workload& workload = *endpoint.workload;
    if (in_.service->node_local && workload.node_name != client_.node_name) return false;
    if (!Visible(workload.network)) return false;
    if (in_.udp && !InNetwork(workload.network)) return false;
    if (in_.cluster_local && workload.cluster != client_.cluster) return false;
    if (endpoint.own_cluster_only && !InCluster(workload.cluster)) return false;
    if (endpoint.addresses.empty() || (endpoint.addresses[0].empty() && InNetwork(workload.network)))
      return false;
    if (!unhealthy_ && endpoint.health == model::Health::kUnhealthy) return false;
    // A terminating pod that a new one replaces is no missing capacity.
    if (endpoint.health == model::Health::kTerminating) return false;
    const bool draining =
        endpoint.health == model::Health::kDraining || LabelledDraining(in_.settings->features, workload);
    if (draining && !sessions_) return false;
    return !in_.self_discovery || SameWorkload(workload);
  }

 private:
  bool Visible(const Interned& network) const {
    const auto& view = client_.network_view;
    return view.empty() || network.empty() || std::binary_search(view.begin(), view.end(), network.str());
  }
  bool InCluster(const Interned& cluster) const {
    return client_.cluster.empty() || cluster.empty() || cluster == client_.cluster;
  }
  bool InNetwork(const Interned& network) const {
    return !client_.other_networks || client_.network.empty() || network.empty() ||
           network == client_.network;
  }
  bool SameWorkload(const model::Workload& workload) const {
    return workload.name == client_.workload_name &&
           LabelOr(workload.labels, "pod-template-hash") == client_.pod_template_hash &&
           LabelOr(workload.labels, "rollouts-pod-template-hash") == client_.rollout_template_hash &&
           workload.locality.region == client_.locality.region;
  }

  const EndpointInputs& in_;
  const EndpointClient& client_;
  const bool unhealthy_;
  const bool sessions_;
};

// Whether an endpoint belongs to the service's port: by name over EDS; in DNS clusters by number where it has
// one.
bool OfPort(const EndpointInputs& inputs, const model::ServicePort& port, const model::Endpoint& endpoint) {
  if (inputs.inline_endpoints && endpoint.service_port != 0) return endpoint.service_port == port.port;
  if (!inputs.inline_endpoints && IsInferencePool(*inputs.service)) return true;
  return endpoint.port_name == port.name;
}

// EDS knows IP addresses and sockets; a host name among the endpoints is the business of DNS clusters.
bool Addressable(const EndpointInputs& inputs, const model::Endpoint& endpoint) {
  if (inputs.inline_endpoints || endpoint.port == 0 || endpoint.addresses.empty()) return true;
  return endpoint.addresses[0].empty() || IsIpAddress(endpoint.addresses[0]);
}

bool OffersTunnel(const model::Workload& workload) {
  if (LabelOr(workload.labels, kManagedGatewayLabel) == "istio.io-mesh-controller") return true;
  for (std::string_view protocol : Split(LabelOr(workload.labels, kTunnelLabel), ',')) {
    if (protocol == "http") return true;
  }
  return false;
}

std::string HostAndPort(std::string_view host, uint32_t port) {
  return host.find(':') == std::string_view::npos ? StrCat(host, ":", port) : StrCat("[", host, "]:", port);
}

// An endpoint that is reached through an HBONE tunnel: the internal listener that opens it, and where it
// ends.
void SetTunnel(const model::Endpoint& endpoint, ep::LbEndpoint* out) {
  const std::string target = HostAndPort(endpoint.addresses[0], endpoint.port);
  proto::SetInternalAddress("connect_originate", target, out->mutable_endpoint()->mutable_address());
  auto& metadata = *out->mutable_metadata()->mutable_filter_metadata();
  proto::SetString("local", target, &metadata["envoy.filters.listener.original_dst"]);
  metadata[std::string(kTransportSocketMatch)].Clear();
  proto::SetString("tunnel", "http", &metadata[std::string(kTransportSocketMatch)]);
}

void BuildEndpoint(const EndpointInputs& inputs, const model::Endpoint& endpoint, bool mutual_tls,
                   ep::LbEndpoint* out) {
  const model::Workload& workload = *endpoint.workload;
  const model::Health health =
      LabelledDraining(inputs.settings->features, workload) ? model::Health::kDraining : endpoint.health;
  out->set_health_status(static_cast<envoy::config::core::v3::HealthStatus>(health));
  out->mutable_load_balancing_weight()->set_value(std::max(endpoint.weight, 1u));
  SetEndpointMetadata(inputs, workload, mutual_tls ? workload.tls_mode.str() : std::string_view(), out);
  // Who speaks Istio's mutual TLS is not tunnelled to.
  if (workload.tls_mode != kTlsModeIstio && !inputs.udp && !inputs.client.no_tunnel &&
      OffersTunnel(workload)) {
    return SetTunnel(endpoint, out);
  }
  proto::SetAddress(endpoint.addresses[0], endpoint.port, out->mutable_endpoint()->mutable_address());
  if (!inputs.settings->features.dual_stack) return;
  for (size_t i = 1; i < endpoint.addresses.size(); ++i) {
    auto* more = out->mutable_endpoint()->add_additional_addresses();
    proto::SetAddress(endpoint.addresses[i], endpoint.port, more->mutable_address());
  }
}

std::vector<LocalityGroup> KeepMutualTls(std::vector<LocalityGroup> groups) {
  for (LocalityGroup& group : groups) {
    LocalityGroup kept;
    *kept.message.mutable_locality() = group.message.locality();
    for (size_t i = 0; i < group.members.size(); ++i) {
      auto* endpoint = group.message.mutable_lb_endpoints(static_cast<int>(i));
      if (!SpeaksMutualTls(*endpoint)) continue;
      kept.message.add_lb_endpoints()->Swap(endpoint);
      kept.members.push_back(group.members[i]);
    }
    RefreshWeight(&kept.message);
    group = std::move(kept);
  }
  return groups;
}

void SetLocality(const model::Locality& locality, envoy::config::core::v3::Locality* out) {
  out->set_region(locality.region.str());
  out->set_zone(locality.zone.str());
  out->set_sub_zone(locality.subzone.str());
}

// Whether a shard takes part: of a cluster-local service, the client's own cluster alone.
bool InReach(const EndpointInputs& inputs, const model::EndpointShard& shard) {
  const bool own_cluster_only = inputs.cluster_local || inputs.service->node_local;
  return inputs.inline_endpoints || !own_cluster_only || shard.cluster == inputs.client.cluster;
}

uint32_t SaturatingSum(uint32_t a, uint32_t b) {
  return b > std::numeric_limits<uint32_t>::max() - a ? std::numeric_limits<uint32_t>::max() : a + b;
}

}  // namespace

const api::DestinationRule* SpecOf(const mesh::DestinationRulePtr& rule) {
  return rule == nullptr ? nullptr : rule->spec.get();
}

EffectivePolicy EndpointPolicy(const EndpointInputs& inputs) {
  const api::DestinationRule* rule = SpecOf(inputs.rule);
  return PolicyForSubset(PolicyForPort(PolicyOf(rule), inputs.port),
                         PolicyOf(FindSubset(rule, inputs.subset)), inputs.port);
}

bool SpeaksMutualTls(const ep::LbEndpoint& endpoint) {
  const auto& metadata = endpoint.metadata().filter_metadata();
  const auto match = metadata.find(std::string(kTransportSocketMatch));
  if (match == metadata.end()) return false;
  const auto mode = match->second.fields().find("tlsMode");
  return mode != match->second.fields().end() && mode->second.string_value() == kTlsModeIstio;
}

// The labels that name the canonical service: outside of the mesh those of the service where it has them.
const LabelMap& CanonicalLabels(const EndpointInputs& inputs, const model::Workload& workload) {
  const bool of_service = inputs.settings->features.canonical_external && inputs.service->mesh_external &&
                          inputs.service->labels.contains("service.istio.io/canonical-name");
  return of_service ? inputs.service->labels : workload.labels;
}

void SetEndpointMetadata(const EndpointInputs& inputs, const model::Workload& workload,
                         std::string_view tls_mode, ep::LbEndpoint* endpoint) {
  const model::Features& features = inputs.settings->features;
  auto* metadata = endpoint->mutable_metadata();
  if (!tls_mode.empty() && tls_mode != "disabled") {
    auto* match = &(*metadata->mutable_filter_metadata())[std::string(kTransportSocketMatch)];
    proto::SetString("tlsMode", tls_mode, match);
  }
  if (!features.telemetry_label || !features.endpoint_telemetry_label) return;
  const LabelMap& labels = CanonicalLabels(inputs, workload);
  const auto first = [&labels](std::initializer_list<std::string_view> keys, std::string_view fallback) {
    for (std::string_view key : keys) {
      if (auto it = labels.find(key); it != labels.end()) return std::string_view(it->second);
    }
    return fallback;
  };
  const std::string_view name =
      first({"service.istio.io/canonical-name", "app.kubernetes.io/name", "app"}, workload.name);
  std::string_view revision =
      first({"service.istio.io/canonical-revision", "app.kubernetes.io/version", "version"}, "");
  if (revision == "latest") revision = "";
  proto::SetString("workload",
                   StrCat(workload.name.str(), ";", workload.ns.str(), ";", name, ";", revision, ";",
                          workload.cluster.str()),
                   IstioMetadata(metadata));
}

void RefreshWeight(ep::LocalityLbEndpoints* group) {
  if (group->lb_endpoints_size() == 0) return group->clear_load_balancing_weight();
  uint32_t sum = 0;
  for (const auto& endpoint : group->lb_endpoints())
    sum = SaturatingSum(sum, endpoint.load_balancing_weight().value());
  group->mutable_load_balancing_weight()->set_value(sum);
}

std::vector<LocalityGroup> BuildLocalityGroups(const EndpointInputs& inputs) {
  const model::ServicePort* port = inputs.service ? inputs.FindPort() : nullptr;
  if (port == nullptr || inputs.endpoints == nullptr) return {};
  const EndpointFilter filter(inputs);
  MutualTls mutual_tls(inputs);
  const api::Subset* subset = FindSubset(SpecOf(inputs.rule), inputs.subset);
  const LabelMap selector =
      subset == nullptr ? LabelMap() : LabelMap(subset->labels().begin(), subset->labels().end());

  std::map<std::string_view, LocalityGroup> by_locality;  // as Istio orders groups
  for (const model::EndpointShard& shard : inputs.endpoints->shards) {
    if (!InReach(inputs, shard)) continue;
    for (const model::Endpoint& endpoint : shard.endpoints) {
      if (!OfPort(inputs, *port, endpoint) || !Addressable(inputs, endpoint)) continue;
      if (!SelectorMatches(selector, endpoint.workload->labels) || !filter.Admits(endpoint)) continue;
      LocalityGroup& group = by_locality[endpoint.workload->locality_label];
      if (group.members.empty()) SetLocality(endpoint.workload->locality, group.message.mutable_locality());
      BuildEndpoint(inputs, endpoint, !inputs.udp && mutual_tls.Enabled(endpoint),
                    group.message.add_lb_endpoints());
      group.members.push_back({.endpoint = &endpoint});
    }
  }
  std::vector<LocalityGroup> groups;
  for (auto& [locality, group] : by_locality) {
    RefreshWeight(&group.message);
    groups.push_back(std::move(group));
  }
  if (inputs.networks != nullptr && !inputs.udp) groups = RouteThroughGateways(inputs, std::move(groups));
  // A gateway that passes TLS through cannot tell whether a request is mutual TLS, so it offers only who
  // insists on it.
  if (inputs.dns_srv) groups = KeepMutualTls(std::move(groups));
  return groups;
}

ep::ClusterLoadAssignment BuildLoadAssignment(const EndpointInputs& inputs) {
  ep::ClusterLoadAssignment assignment;
  assignment.set_cluster_name(inputs.cluster_name);
  std::vector<LocalityGroup> groups = BuildLocalityGroups(inputs);
  if (!groups.empty() && !inputs.self_discovery) {
    const EffectivePolicy effective = EndpointPolicy(inputs);
    const LocalityPolicy policy =
        ResolveLocalityPolicy(*inputs.settings->mesh, effective.load_balancer, *inputs.service);
    // Zone-aware routing needs the proxy's own service as a cluster, which a waypoint never has.
    if (policy.zone_aware == nullptr || !inputs.client.waypoint) {
      const LocalityClient client{inputs.client.locality, inputs.client.labels, inputs.client.labelled};
      ApplyLocalityPolicy(policy, client, effective.outlier_detection != nullptr, /*by_labels=*/true,
                          &groups);
    }
  }
  for (LocalityGroup& group : groups) assignment.add_endpoints()->Swap(&group.message);
  return assignment;
}

}  // namespace fairlead::gen
