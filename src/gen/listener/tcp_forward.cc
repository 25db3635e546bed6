#include "gen/listener/tcp_forward.h"

#include "base/strings.h"
#include "gen/naming/cluster_name.h"
#include "gen/naming/stat_name.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"
#include "model/host_name.h"

namespace fairlead::gen::listener {
namespace {

using istio::networking::v1alpha3::Destination;
using istio::networking::v1alpha3::DestinationRule;
using istio::networking::v1alpha3::Subset;
using istio::networking::v1alpha3::TrafficPolicy;

constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;

int64_t Nanoseconds(const google::protobuf::Duration& duration) {
  return duration.seconds() * kNanosecondsPerSecond + duration.nanos();
}

const Subset* FindSubset(const DestinationRule& rule, std::string_view name) {
  for (const Subset& subset : rule.subsets()) {
    if (subset.name() == name) return &subset;
  }
  return nullptr;
}

// A subset with a load balancer of its own decides for itself.
bool HashesSourceIp(const DestinationRule& rule, std::string_view subset_name) {
  const Subset* subset = FindSubset(rule, subset_name);
  const bool own = subset != nullptr && subset->traffic_policy().has_load_balancer();
  const TrafficPolicy& policy = own ? subset->traffic_policy() : rule.traffic_policy();
  return policy.load_balancer().consistent_hash().use_source_ip();
}

// A subset does not inherit the tunnel.
std::optional<Tunnel> TunnelOf(const DestinationRule& rule, std::string_view subset_name) {
  const TrafficPolicy* policy = &rule.traffic_policy();
  if (!subset_name.empty()) {
    const Subset* subset = FindSubset(rule, subset_name);
    if (subset == nullptr) return std::nullopt;
    policy = &subset->traffic_policy();
  }
  if (!policy->has_tunnel()) return std::nullopt;
  const auto& wanted = policy->tunnel();
  const bool bracketed = wanted.target_host().find(':') != std::string::npos;
  Tunnel tunnel;
  tunnel.target = bracketed ? StrCat('[', wanted.target_host(), "]:", wanted.target_port())
                            : StrCat(wanted.target_host(), ':', wanted.target_port());
  tunnel.post = wanted.protocol() == "POST";
  return tunnel;
}

void ApplyRule(const DestinationRule* rule, std::string_view subset, const ProxyTraits& traits,
               TcpForward* out) {
  out->idle_timeout = traits.idle_timeout;
  if (rule == nullptr) return;
  const auto& pool = rule->traffic_policy().connection_pool().tcp();
  if (pool.has_idle_timeout()) out->idle_timeout = Nanoseconds(pool.idle_timeout());
  if (pool.has_max_connection_duration()) out->max_duration = Nanoseconds(pool.max_connection_duration());
  out->hash_source_ip = HashesSourceIp(*rule, subset);
  out->tunnel = TunnelOf(*rule, subset);
}

std::string DestinationCluster(const Destination& destination, const model::Service* service,
                               uint32_t listen_port) {
  if (destination.host().empty()) return "UnknownService";
  // An alias stands for the service that it names.
  const bool alias = service != nullptr && !service->external_name.empty();
  uint32_t port = listen_port;
  if (destination.has_port()) {
    port = destination.port().number();
  } else if (service != nullptr && service->ports.size() == 1) {
    port = service->ports.front().port;
  }
  return OutboundClusterName(port, destination.subset(), alias ? service->external_name : destination.host());
}

std::string StatPrefix(const ForwardRequest& request, const std::string& cluster,
                       const model::Service* service, std::string_view subset,
                       const model::ServicePort& port) {
  const std::string& pattern = request.traits.settings->mesh->outbound_cluster_stat_name();
  if (pattern.empty() || service == nullptr) return cluster;
  return FillStatPattern(pattern, *service, subset, port, 0);
}

}  // namespace

std::optional<TcpForward> ForwardByRoute(const ForwardRequest& request, const RouteDestinations& destinations,
                                         const mesh::VirtualService& virtual_service) {
  const Destination& first = destinations[0].destination();
  const model::ServicePtr imported = request.view.Imported(first.host());
  const model::Service* service = imported.get();
  const mesh::DestinationRulePtr rule = service == nullptr ? nullptr : request.view.Rule(service->hostname);
  const DestinationRule* spec = rule == nullptr ? nullptr : rule->spec.get();
  TcpForward forward;
  forward.protocol = request.port.protocol;
  if (destinations.size() == 1) {
    const std::string cluster = DestinationCluster(first, service, request.port.number);
    model::ServicePort port;
    port.port = request.port.number;
    port.name = std::string(request.port.name);
    forward.stat_prefix = StatPrefix(request, cluster, service, first.subset(), port);
    forward.clusters = {{cluster, 0}};
    ApplyRule(spec, first.subset(), request.traits, &forward);
    return forward;
  }
  // Of the rules of several destinations, the first one's counts, and no subset's.
  ApplyRule(spec, "", request.traits, &forward);
  forward.stat_prefix = StrCat(virtual_service.object->name().str(), '.', virtual_service.object->ns().str());
  forward.weighted = true;
  for (const auto& route : destinations) {
    if (route.weight() <= 0) continue;
    const Destination& destination = route.destination();
    forward.clusters.push_back(
        {DestinationCluster(destination, request.view.Imported(destination.host()).get(),
                            request.port.number),
         static_cast<uint32_t>(route.weight())});
  }
  if (forward.clusters.empty()) return std::nullopt;
  return forward;
}

TcpForward ForwardBySni(const ForwardRequest& request, const model::Service& service,
                        const model::ServicePort& port, std::string_view subset) {
  TcpForward forward;
  const std::string cluster = DnsSrvName(port.port, subset, service.hostname);
  forward.stat_prefix = StatPrefix(request, cluster, &service, subset, port);
  forward.clusters = {{cluster, 0}};
  forward.protocol = port.protocol;
  const mesh::DestinationRulePtr rule = request.view.Rule(service.hostname);
  ApplyRule(rule == nullptr ? nullptr : rule->spec.get(), subset, request.traits, &forward);
  forward.tunnel.reset();
  return forward;
}

TcpForward ForwardToService(const L4Request& request) {
  const model::Service& service = request.service;
  // A Sidecar's own port may be none of the service's: where that has one port only, it is clear which is
  // meant.
  model::ServicePort port;
  port.port = service.ports.size() == 1 ? service.ports.front().port : request.port.number;
  TcpForward forward;
  const std::string cluster = OutboundClusterName(port.port, "", service.hostname);
  forward.stat_prefix = StatPrefix({request.view, request.traits, request.port}, cluster, &service, "", port);
  forward.clusters = {{cluster, 0}};
  forward.protocol = request.port.protocol;
  const mesh::DestinationRulePtr rule = request.view.Rule(service.hostname);
  ApplyRule(rule == nullptr ? nullptr : rule->spec.get(), "", request.traits, &forward);
  if (service.resolution == model::Resolution::kDynamicDns && model::IsWildcard(service.hostname)) {
    forward.dynamic_dns_host = service.hostname.str();
    forward.dynamic_dns_port = request.port.number;
  }
  return forward;
}

}  // namespace fairlead::gen::listener
