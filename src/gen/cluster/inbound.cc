#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "envoy/config/endpoint/v3/endpoint.pb.h"
#include "gen/cluster/build.h"
#include "gen/cluster/draft.h"
#include "gen/endpoint/build.h"
#include "gen/naming/cluster_name.h"
#include "gen/naming/metadata.h"
#include "gen/naming/stat_name.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "istio/networking/v1alpha3/sidecar.pb.h"
#include "proto/messages.h"

namespace fairlead::gen {
namespace {

namespace cl = envoy::config::cluster::v3;
using Sidecar = istio::networking::v1alpha3::Sidecar;

// The longest duration that Go's time package holds in whole seconds, which is what the wire has for "never".
constexpr int64_t kNeverSeconds = 9223372035;

// What stands for a service where an ingress listener's port belongs to none.
model::Service SidecarAsService(const InboundClusterInputs& inputs) {
  model::Service service;
  service.registry = model::Registry::kExternal;
  service.hostname = StrCat(inputs.sidecar_name.str(), ".", inputs.sidecar_namespace.str());
  service.name = inputs.sidecar_name.str();
  service.ns = inputs.sidecar_namespace;
  service.mesh_external = true;
  return service;
}

model::ServicePort PortOf(const InboundClusterInputs& inputs) {
  if (!inputs.ingress_listener) return *inputs.targets.front().port;
  model::ServicePort port;
  port.port = inputs.cluster_port;
  port.name = inputs.listener_port_name;
  port.protocol = model::ParseProtocol(inputs.listener_protocol);
  return port;
}

// All services of the port, each host once.
void AddServices(const InboundClusterInputs& inputs, const model::Service& first, uint32_t port,
                 cl::Cluster* cluster) {
  if (first.mesh_external || !inputs.settings->features.telemetry_label) return;
  auto& list = (*IstioMetadata(cluster->mutable_metadata())->mutable_fields())["services"];
  list.mutable_list_value();
  std::vector<std::string_view> seen;
  const auto add = [&](const model::Service& service) {
    const std::string_view host = service.hostname.str();
    if (std::find(seen.begin(), seen.end(), host) != seen.end()) return;
    seen.push_back(host);
    AddServiceMetadata(service, cluster->mutable_metadata());
  };
  for (const InboundTarget& target : inputs.targets) {
    if (target.port == nullptr || target.port->port == port) add(*target.service);
  }
}

void SetEndpoint(const InboundClusterInputs& inputs, cl::Cluster* cluster) {
  auto* assignment = cluster->mutable_load_assignment();
  assignment->set_cluster_name(cluster->name());
  proto::SetAddress(inputs.bind, inputs.bind_port,
                    assignment->add_endpoints()->add_lb_endpoints()->mutable_endpoint()->mutable_address());
}

// A Sidecar's connection pool for the port, else for all its inbound ports; null: it says nothing.
const api::ConnectionPoolSettings* SidecarPool(const InboundClusterInputs& inputs) {
  if (inputs.sidecar == nullptr) return nullptr;
  const auto& sidecar = inputs.sidecar->Spec<Sidecar>();
  for (const auto& listener : sidecar.ingress()) {
    if (listener.port().number() == inputs.cluster_port && listener.has_connection_pool()) {
      return &listener.connection_pool();
    }
  }
  return sidecar.has_inbound_connection_pool() ? &sidecar.inbound_connection_pool() : nullptr;
}

// The receiving side needs the capacity that its clients were granted, so a rule's connection pool holds here
// too; nothing else of the rule does. What a Sidecar says goes before it.
EffectivePolicy InboundPolicy(const InboundClusterInputs& inputs, uint32_t port) {
  const EffectivePolicy rule = PolicyForPort(PolicyOf(SpecOf(inputs.rule)), port);
  EffectivePolicy policy{.connection_pool = rule.connection_pool, .retry_budget = rule.retry_budget};
  AddMeshDefaults(*inputs.settings->mesh, &policy);
  if (const auto* pool = SidecarPool(inputs)) policy.connection_pool = pool;
  return policy;
}

// From this source address, iptables lets through what the proxy sends to its own workload.
void SetBindAddress(const InboundClusterInputs& inputs, cl::Cluster* cluster) {
  const ClusterTraits& traits = inputs.traits;
  auto* bind = cluster->mutable_upstream_bind_config();
  proto::SetSocketAddress(Ipv6Only(traits) ? "::6" : "127.0.0.6", 0, bind->mutable_source_address());
  if (inputs.settings->features.dual_stack && traits.ipv4 && traits.ipv6)
    proto::SetSocketAddress("::6", 0, bind->add_extra_source_addresses()->mutable_address());
}

}  // namespace

cl::Cluster BuildInbound(const InboundClusterInputs& inputs) {
  const bool standin = inputs.targets.empty();
  const model::Service sidecar = standin ? SidecarAsService(inputs) : model::Service();
  const model::Service& service = standin ? sidecar : *inputs.targets.front().service;
  const model::ServicePort port = PortOf(inputs);
  const bool original = inputs.bind.empty();

  ClusterDraft draft;
  cl::Cluster& cluster = draft.cluster;
  StartCluster(InboundClusterName(inputs.cluster_port),
               original ? cl::Cluster::ORIGINAL_DST : cl::Cluster::STATIC, *inputs.settings, inputs.traits,
               service, &draft);
  if (original) {
    SetOriginalPort(service, port, &cluster);
    cluster.mutable_cleanup_interval()->set_seconds(kNeverSeconds);
  } else {
    SetEndpoint(inputs, &cluster);
  }
  SetUpstreamProtocol(port, inputs.traits, &draft);
  AddServices(inputs, service, port.port, &cluster);
  const std::string& pattern = inputs.settings->mesh->inbound_cluster_stat_name();
  if (!pattern.empty()) {
    cluster.set_alt_stat_name(StatName(FillStatPattern(pattern, service, "", port, inputs.cluster_port)));
  }
  if (inputs.rule != nullptr && PolicyOf(SpecOf(inputs.rule)) != nullptr && cluster.has_metadata()) {
    AddConfigMetadata(*inputs.rule->objects.front(), cluster.mutable_metadata());
  }
  ApplyConnectionPool(*inputs.settings, InboundPolicy(inputs, port.port), &draft);
  if (original) cluster.set_lb_policy(cl::Cluster::CLUSTER_PROVIDED);
  if (inputs.bind != "127.0.0.1" && inputs.bind != "::1") SetBindAddress(inputs, &cluster);
  return draft.Finish();
}

}  // namespace fairlead::gen
