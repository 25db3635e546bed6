#include <google/protobuf/struct.pb.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "envoy/extensions/clusters/dynamic_forward_proxy/v3/cluster.pb.h"
#include "envoy/extensions/load_balancing_policies/override_host/v3/override_host.pb.h"
#include "envoy/extensions/load_balancing_policies/round_robin/v3/round_robin.pb.h"
#include "gen/cluster/build.h"
#include "gen/cluster/draft.h"
#include "gen/endpoint/build.h"
#include "gen/naming/cluster_name.h"
#include "gen/naming/inference_pool.h"
#include "gen/naming/lookup_family.h"
#include "gen/naming/metadata.h"
#include "gen/naming/stat_name.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "model/host_name.h"
#include "proto/messages.h"

namespace fairlead::gen {
namespace {

namespace cl = envoy::config::cluster::v3;
namespace lb = envoy::extensions::load_balancing_policies;

// A port of a service, or of a subset of it, with what its rule says.
struct Destination {
  const model::Service& service;
  const model::ServicePort& port;
  const api::DestinationRule* rule = nullptr;  // null: none
  const api::Subset* subset = nullptr;
  EffectivePolicy service_policy;  // of the whole service
  EffectivePolicy policy;          // of the subset where there is one
};

cl::Cluster::DiscoveryType TypeOf(const model::Features& features, const model::Service& service,
                                  model::ProxyType client) {
  switch (service.resolution) {
    case model::Resolution::kDnsLb:
      return RacesConnections(service) ? cl::Cluster::LOGICAL_DNS : cl::Cluster::STRICT_DNS;
    case model::Resolution::kDnsRoundRobinLb:
      return cl::Cluster::LOGICAL_DNS;
    case model::Resolution::kPassthrough:
      if (features.headless_endpoints && service.registry == model::Registry::kKubernetes)
        return cl::Cluster::EDS;
      // At a gateway the original destination is the gateway itself.
      return client == model::ProxyType::kRouter ? cl::Cluster::EDS : cl::Cluster::ORIGINAL_DST;
    default:
      return cl::Cluster::EDS;
  }
}

bool Passthrough(const EffectivePolicy& policy) {
  return policy.load_balancer != nullptr &&
         policy.load_balancer->simple() == api::LoadBalancerSettings::PASSTHROUGH;
}

// A subset starts from what its service's cluster became, and its own policy's passthrough counts at once
// (not a port's).
cl::Cluster::DiscoveryType SubsetType(const Destination& to, cl::Cluster::DiscoveryType type) {
  if (Passthrough(to.service_policy)) return cl::Cluster::ORIGINAL_DST;
  const bool own =
      to.subset->traffic_policy().load_balancer().simple() == api::LoadBalancerSettings::PASSTHROUGH;
  return own ? cl::Cluster::ORIGINAL_DST : type;
}

bool IsDynamicForwardProxy(const model::Service& service) {
  return service.resolution == model::Resolution::kDynamicDns && model::IsWildcard(service.hostname.str());
}

// Resolves the requests' own hosts, which a wildcard covers.
void StartDynamicForwardProxy(const OutboundClusterInputs& inputs, const std::string& name,
                              ClusterDraft* draft) {
  cl::Cluster& cluster = draft->cluster;
  draft->dynamic_forward_proxy = true;
  cluster.set_name(name);
  cluster.set_alt_stat_name(StatName(name));
  cluster.set_lb_policy(cl::Cluster::CLUSTER_PROVIDED);
  cluster.mutable_cluster_type()->set_name("envoy.clusters.dynamic_forward_proxy");
  envoy::extensions::clusters::dynamic_forward_proxy::v3::ClusterConfig config;
  auto* cache = config.mutable_dns_cache_config();
  cache->set_name(DnsCacheName(inputs.service->hostname.str()));
  cache->set_dns_lookup_family(
      LookupFamily(inputs.settings->features, inputs.traits.ipv4, inputs.traits.ipv6));
  proto::Pack(config, cluster.mutable_cluster_type()->mutable_typed_config());
}

void StartOutbound(const OutboundClusterInputs& inputs, const Destination& to, const std::string& name,
                   cl::Cluster::DiscoveryType type, ClusterDraft* draft) {
  cl::Cluster& cluster = draft->cluster;
  StartCluster(name, type, *inputs.settings, inputs.traits, to.service, draft);
  SetOriginalPort(to.service, to.port, &cluster);
  SetUpstreamProtocol(to.port, inputs.traits, draft);
  if (inputs.settings->features.telemetry_label) AddServiceMetadata(to.service, cluster.mutable_metadata());
  const std::string& pattern = inputs.settings->mesh->outbound_cluster_stat_name();
  if (!pattern.empty()) {
    cluster.set_alt_stat_name(StatName(FillStatPattern(pattern, to.service, inputs.subset, to.port, 0)));
  }
}

void ApplyPolicy(const OutboundClusterInputs& inputs, const Destination& to,
                 std::vector<LocalityGroup> groups, ClusterDraft* draft) {
  const auto& mesh = *inputs.settings->mesh;
  ApplyHttp2Upgrade(mesh, to.policy, to.port, draft);
  ApplyConnectionPool(*inputs.settings, to.policy, draft);
  ApplyOutlierDetection(inputs.settings->features, to.policy.outlier_detection, to.service, draft);
  ApplyLoadBalancer(inputs, to.policy, std::move(groups), draft);
  if (!inputs.dns_srv) {
    const std::string sni =
        draft->dynamic_forward_proxy ? "" : DnsSrvName(inputs.port, inputs.subset, to.service.hostname.str());
    ApplyUpstreamTls(inputs, to.policy, sni, draft);
    ApplyProxyProtocol(to.policy, &draft->cluster);
  }
  cl::Cluster& cluster = draft->cluster;
  if (cluster.has_type() && cluster.type() == cl::Cluster::ORIGINAL_DST) {
    cluster.set_lb_policy(cl::Cluster::CLUSTER_PROVIDED);
  }
}

void AddMetadata(const OutboundClusterInputs& inputs, const Destination& to, cl::Cluster* cluster) {
  if (inputs.all_tunnel && to.subset == nullptr) {
    proto::SetBool("disable_mx", true, IstioMetadata(cluster->mutable_metadata()));
  } else if (to.service.mesh_external && to.subset == nullptr) {
    proto::SetBool("external", true, IstioMetadata(cluster->mutable_metadata()));
  }
  if (inputs.rule == nullptr) return;
  AddConfigMetadata(*inputs.rule->objects.front(), cluster->mutable_metadata());
  auto* istio = IstioMetadata(cluster->mutable_metadata());
  if (to.subset != nullptr) proto::SetString("subset", inputs.subset, istio);
  // Where the rule originates TLS, the ALPN of requests must stay as it is.
  if (to.policy.tls == nullptr) return;
  const auto mode = to.policy.tls->mode();
  if (mode == api::ClientTLSSettings::SIMPLE || mode == api::ClientTLSSettings::MUTUAL) {
    proto::SetString("alpn_override", "false", istio);
  }
}

// OverrideHost.selected_host_key, which is newer than the API that this is built with.
constexpr int kSelectedHostKey = 2;

// Requests go where the endpoint picker says; where it says nothing, in turn. Source: Istio's
// applyOverrideHostPolicy.
void FollowEndpointPicker(cl::Cluster* cluster) {
  cluster->mutable_common_lb_config()->clear_locality_config_specifier();
  cluster->set_lb_policy(cl::Cluster::CLUSTER_PROVIDED);
  lb::override_host::v3::OverrideHost picked;
  auto* source = picked.add_override_host_sources()->mutable_metadata();
  source->set_key(std::string(kPickedNamespace));
  source->add_path()->set_key(std::string(kPickedKey));
  envoy::type::metadata::v3::MetadataKey served;
  served.set_key(std::string(kPickedNamespace));
  served.add_path()->set_key(std::string(kServedKey));
  picked.GetReflection()->MutableUnknownFields(&picked)->AddLengthDelimited(kSelectedHostKey,
                                                                            served.SerializeAsString());
  auto* fallback = picked.mutable_fallback_policy()->add_policies()->mutable_typed_extension_config();
  fallback->set_name("envoy.load_balancing_policies.round_robin");
  proto::Pack(lb::round_robin::v3::RoundRobin(), fallback->mutable_typed_config());
  cluster->mutable_load_balancing_policy()->clear_policies();
  auto* policy = cluster->mutable_load_balancing_policy()->add_policies()->mutable_typed_extension_config();
  policy->set_name("envoy.load_balancing_policies.override_host");
  proto::Pack(picked, policy->mutable_typed_config());
}

// The inline endpoints of a cluster that resolves names. Nothing: there are none, so there is no cluster, nor
// a subset's.
std::optional<std::vector<LocalityGroup>> InlineEndpoints(const OutboundClusterInputs& inputs,
                                                          cl::Cluster::DiscoveryType type) {
  if (inputs.endpoints == nullptr) return std::vector<LocalityGroup>();
  std::vector<LocalityGroup> groups = BuildLocalityGroups(*inputs.endpoints);
  if (type == cl::Cluster::ORIGINAL_DST && !inputs.subset.empty()) {
    EndpointInputs whole = *inputs.endpoints;
    whole.subset.clear();
    if (BuildLocalityGroups(whole).empty()) return std::nullopt;
    return std::vector<LocalityGroup>();
  }
  if (groups.empty()) return std::nullopt;
  return groups;
}

Destination Resolve(const OutboundClusterInputs& inputs, const model::ServicePort& port) {
  const api::DestinationRule* rule = SpecOf(inputs.rule);
  Destination to{*inputs.service, port, rule, nullptr, {}, {}};
  to.service_policy = PolicyForPort(PolicyOf(rule), port.port);
  AddMeshDefaults(*inputs.settings->mesh, &to.service_policy);
  to.policy = to.service_policy;
  if (!inputs.subset.empty()) {
    to.subset = FindSubset(rule, inputs.subset);
    to.policy = PolicyForSubset(to.service_policy, PolicyOf(to.subset), port.port);
  }
  return to;
}

}  // namespace

void KeepDraining(cl::Cluster* cluster) {
  auto* statuses = cluster->mutable_common_lb_config()->mutable_override_host_status();
  for (auto status : {envoy::config::core::v3::HEALTHY, envoy::config::core::v3::DRAINING,
                      envoy::config::core::v3::UNKNOWN, envoy::config::core::v3::DEGRADED}) {
    statuses->add_statuses(status);
  }
}

std::optional<cl::Cluster> BuildUdpOutbound(const OutboundClusterInputs& inputs) {
  const model::ServicePort* port = inputs.service->FindUdpPort(inputs.port);
  if (port == nullptr || IsDynamicForwardProxy(*inputs.service)) return std::nullopt;
  const Destination to = Resolve(inputs, *port);
  const cl::Cluster::DiscoveryType type = TypeOf(inputs.settings->features, to.service, inputs.traits.type);
  auto groups = InlineEndpoints(inputs, type);
  if (!groups) return std::nullopt;
  ClusterDraft draft;
  StartOutbound(inputs, to, UdpClusterName(inputs.port, to.service.hostname.str()), type, &draft);
  ApplyConnectionPool(*inputs.settings, to.policy, &draft);
  draft.http.reset();
  ApplyLoadBalancer(inputs, to.policy, *std::move(groups), &draft);
  SetEds(&draft.cluster);
  AddMetadata(inputs, to, &draft.cluster);
  return draft.Finish();
}

std::optional<cl::Cluster> BuildOutbound(const OutboundClusterInputs& inputs) {
  const model::ServicePort* port = inputs.service->FindTcpPort(inputs.port);
  if (port == nullptr) return std::nullopt;
  const Destination to = Resolve(inputs, *port);
  if (to.subset == nullptr && !inputs.subset.empty()) return std::nullopt;
  const std::string& host = to.service.hostname.str();
  const std::string name = inputs.dns_srv ? DnsSrvName(inputs.port, inputs.subset, host)
                                          : OutboundClusterName(inputs.port, inputs.subset, host);
  ClusterDraft draft;
  std::vector<LocalityGroup> groups;
  if (IsDynamicForwardProxy(to.service)) {
    StartDynamicForwardProxy(inputs, name, &draft);
    SetUpstreamProtocol(*port, inputs.traits, &draft);
  } else {
    cl::Cluster::DiscoveryType type = TypeOf(inputs.settings->features, to.service, inputs.traits.type);
    if (to.subset != nullptr) type = SubsetType(to, type);
    auto found = InlineEndpoints(inputs, type);
    if (!found) return std::nullopt;
    groups = std::move(*found);
    StartOutbound(inputs, to, name, type, &draft);
    const bool sessions = inputs.settings->features.KeepsSessions(to.service.labels);
    if (to.subset == nullptr && !inputs.dns_srv && sessions) KeepDraining(&draft.cluster);
  }
  ApplyPolicy(inputs, to, std::move(groups), &draft);
  SetEds(&draft.cluster);
  AddMetadataExchange(inputs.settings->features, inputs.traits, &draft.cluster);
  AddMetadata(inputs, to, &draft.cluster);
  const bool picked =
      to.subset == nullptr && !inputs.dns_srv && inputs.traits.type == model::ProxyType::kRouter;
  if (picked && IsInferencePool(to.service)) FollowEndpointPicker(&draft.cluster);
  return draft.Finish();
}

}  // namespace fairlead::gen
