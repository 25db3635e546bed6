#include "simulate/destinations.h"

#include <algorithm>
#include <map>

#include "base/strings.h"
#include "envoy/extensions/transport_sockets/tls/v3/tls.pb.h"
#include "simulate/routing.h"

namespace fairlead::simulate {
namespace {

using envoy::config::cluster::v3::Cluster;
using envoy::config::core::v3::Address;
using envoy::config::core::v3::HealthStatus;
using envoy::config::core::v3::Metadata;
using envoy::config::core::v3::TransportSocket;
using envoy::config::endpoint::v3::ClusterLoadAssignment;
using envoy::config::endpoint::v3::LbEndpoint;
using envoy::config::endpoint::v3::LocalityLbEndpoints;
using envoy::extensions::transport_sockets::tls::v3::UpstreamTlsContext;

constexpr std::string_view kUnknownCluster = "no cluster ";

// Endpoints of one priority.
struct Priority {
  std::vector<Candidate> all;
  size_t healthy = 0;
};

std::string ToText(const Address& address) {
  if (address.has_pipe()) return address.pipe().path();
  if (address.has_envoy_internal_address()) return address.envoy_internal_address().server_listener_name();
  const auto& socket = address.socket_address();
  const bool v6 = socket.address().find(':') != std::string::npos;
  return StrCat(v6 ? "[" : "", socket.address(), v6 ? "]:" : ":", socket.port_value());
}

std::string ToText(const envoy::config::core::v3::Locality& locality) {
  std::string text = StrCat(locality.region(), "/", locality.zone(), "/", locality.sub_zone());
  while (text.ends_with('/')) text.pop_back();
  return text;
}

// The name under which Istio's agent keeps the workload's own certificate.
constexpr std::string_view kMeshCertificate = "default";

Transport TransportOf(const TransportSocket& socket) {
  Transport out;
  UpstreamTlsContext tls;
  if (!socket.typed_config().Is<UpstreamTlsContext>() || !socket.typed_config().UnpackTo(&tls)) return out;
  out.tls = true;
  out.server_name = tls.sni();
  const auto& secrets = tls.common_tls_context().tls_certificate_sds_secret_configs();
  const bool mesh = std::any_of(secrets.begin(), secrets.end(),
                                [](const auto& one) { return one.name() == kMeshCertificate; });
  if (mesh) {
    out.certificate = Transport::Certificate::kMesh;
  } else if (!secrets.empty() || tls.common_tls_context().tls_certificates_size() > 0) {
    out.certificate = Transport::Certificate::kOwn;
  }
  return out;
}

// Whether an endpoint's metadata has all that a transport socket match asks for.
bool Fits(const google::protobuf::Struct& asked, const Metadata& metadata) {
  const auto found = metadata.filter_metadata().find("envoy.transport_socket_match");
  return std::all_of(asked.fields().begin(), asked.fields().end(), [&](const auto& field) {
    if (found == metadata.filter_metadata().end()) return false;
    const auto value = found->second.fields().find(field.first);
    return value != found->second.fields().end() &&
           value->second.string_value() == field.second.string_value();
  });
}

Transport TransportTo(const Cluster& cluster, const Metadata& metadata) {
  for (const auto& match : cluster.transport_socket_matches()) {
    if (Fits(match.match(), metadata)) return TransportOf(match.transport_socket());
  }
  return TransportOf(cluster.transport_socket());
}

Candidate CandidateOf(const Cluster& cluster, const LocalityLbEndpoints& group, const LbEndpoint& endpoint) {
  Candidate one;
  one.address = ToText(endpoint.endpoint().address());
  one.locality = ToText(group.locality());
  one.health = HealthStatus_Name(endpoint.health_status());
  one.priority = group.priority();
  one.weight = endpoint.has_load_balancing_weight() ? endpoint.load_balancing_weight().value() : 1;
  one.transport = TransportTo(cluster, endpoint.metadata());
  return one;
}

std::map<uint32_t, Priority> Priorities(const Cluster& cluster, const ClusterLoadAssignment& assignment) {
  std::map<uint32_t, Priority> out;
  for (const LocalityLbEndpoints& group : assignment.endpoints()) {
    Priority& priority = out[group.priority()];
    for (const LbEndpoint& endpoint : group.lb_endpoints()) {
      const HealthStatus health = endpoint.health_status();
      priority.healthy += health == HealthStatus::HEALTHY || health == HealthStatus::UNKNOWN;
      priority.all.push_back(CandidateOf(cluster, group, endpoint));
    }
  }
  std::erase_if(out, [](const auto& entry) { return entry.second.all.empty(); });
  return out;
}

bool IsHealthy(const Candidate& one) { return one.health == "HEALTHY" || one.health == "UNKNOWN"; }

double PanicThreshold(const Cluster& cluster) {
  return cluster.common_lb_config().has_healthy_panic_threshold()
             ? cluster.common_lb_config().healthy_panic_threshold().value()
             : 50;
}

void Take(const Priority& priority, bool panic, std::vector<Candidate>* out) {
  for (const Candidate& one : priority.all) {
    if (panic || IsHealthy(one)) out->push_back(one);
  }
}

// Envoy's priority levels: a priority gets load for its share of healthy endpoints, times the
// overprovisioning factor; what is left goes to the next one. A priority panics where its healthy share is
// below the threshold and no other can carry its load.
std::vector<Candidate> Spread(const Cluster& cluster, const ClusterLoadAssignment& assignment) {
  const double factor = assignment.policy().has_overprovisioning_factor()
                            ? assignment.policy().overprovisioning_factor().value()
                            : 140;
  const auto share = [](const Priority& one) {
    return static_cast<double>(one.healthy) / static_cast<double>(one.all.size());
  };
  const std::map<uint32_t, Priority> priorities = Priorities(cluster, assignment);
  double available = 0;
  for (const auto& [number, one] : priorities) available += std::min(100.0, share(one) * factor);
  std::vector<Candidate> out;
  double left = 100;
  for (const auto& [number, one] : priorities) {
    // Where nobody is healthy, the first priority gets all.
    const double load = available == 0 ? 100 : std::min(100.0, share(one) * factor);
    if (left <= 0 || load <= 0) continue;
    Take(one, available < 100 && share(one) * 100 < PanicThreshold(cluster), &out);
    left -= load;
  }
  return out;
}

Candidate OriginalDestination(const Cluster& cluster, const SimulatedRequest& request) {
  const auto& config = cluster.original_dst_lb_config();
  const uint32_t port = config.has_upstream_port_override() ? config.upstream_port_override().value()
                                                            : request.destination_port;
  Candidate one;
  const bool v6 = request.destination_address.find(':') != std::string::npos;
  one.address = StrCat(v6 ? "[" : "", request.destination_address, v6 ? "]:" : ":", port);
  one.health = "UNKNOWN";
  one.transport = TransportTo(cluster, {});
  return one;
}

// A dynamic forward proxy resolves the name that the request is for.
Candidate RequestedHost(const Cluster& cluster, const SimulatedRequest& request) {
  const bool by_server_name = !request.is_http() && request.tls;
  const std::string_view host =
      by_server_name ? std::string_view(request.tls->server_name) : WithoutPort(request.authority);
  Candidate one;
  one.address = StrCat(host, ":", request.destination_port);
  one.health = "UNKNOWN";
  one.transport = TransportTo(cluster, {});
  return one;
}

std::vector<Candidate> CandidatesOf(const ProxyResources& resources, const Cluster& cluster,
                                    const SimulatedRequest& request) {
  if (cluster.type() == Cluster::ORIGINAL_DST) return {OriginalDestination(cluster, request)};
  if (cluster.cluster_type().name() == "envoy.clusters.dynamic_forward_proxy")
    return {RequestedHost(cluster, request)};
  if (cluster.type() != Cluster::EDS) return Spread(cluster, cluster.load_assignment());
  const std::string& service = cluster.eds_cluster_config().service_name();
  const auto found = resources.endpoints.find(service.empty() ? cluster.name() : service);
  return found == resources.endpoints.end() ? std::vector<Candidate>() : Spread(cluster, found->second);
}

}  // namespace

Destination DestinationOf(const ProxyResources& resources, std::string_view cluster,
                          const SimulatedRequest& request) {
  Destination out;
  out.cluster = cluster;
  const auto found = resources.clusters.find(cluster);
  if (found == resources.clusters.end()) {
    out.problem = StrCat(kUnknownCluster, cluster);
    return out;
  }
  out.candidates = CandidatesOf(resources, found->second, request);
  if (out.candidates.empty()) out.problem = StrCat("no endpoint of ", cluster);
  return out;
}

bool IsUnknownCluster(const Destination& destination) {
  return destination.problem.starts_with(kUnknownCluster);
}

}  // namespace fairlead::simulate
