#include "debug/finders.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/strings.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"
#include "mesh/index/destination_rule_index.h"
#include "model/protocol.h"

namespace fairlead::debug {
namespace {

using model::Endpoint;
using model::Service;
using model::ServicePort;

std::string ClusterName(const ServicePort& port, std::string_view subset, const Service& service) {
  return StrCat("outbound|", port.port, "|", subset, "|", service.hostname.str());
}

bool Serves(const Endpoint& endpoint, const ServicePort& port) {
  return endpoint.port_name == port.name || endpoint.service_port == port.port;
}

// Whether an endpoint of the service serves the port and has these labels.
template <typename Labels>
bool HasEndpoint(const model::ServiceEndpoints* endpoints, const ServicePort& port, const Labels& labels) {
  if (endpoints == nullptr) return false;
  const auto has = [](const model::Workload& workload, const auto& label) {
    const auto found = workload.labels.find(label.first);
    return found != workload.labels.end() &&
           std::string_view(found->second) == std::string_view(label.second);
  };
  for (const model::EndpointShard& shard : endpoints->shards) {
    for (const Endpoint& endpoint : shard.endpoints) {
      const bool labelled = std::all_of(labels.begin(), labels.end(),
                                        [&](const auto& label) { return has(*endpoint.workload, label); });
      if (labelled && Serves(endpoint, port)) return true;
    }
  }
  return false;
}

// The service's clusters, those of the subsets that clients of its own namespace know among them.
void AddEmptyClusters(const mesh::MeshSnapshot& snapshot, const Service& service, std::string_view metric,
                      std::vector<Finding>* out) {
  const auto endpoints = snapshot.endpoints->Find(service.hostname, service.ns);
  const auto rules = snapshot.destination_rules->Lookup(service.ns, service);
  for (const ServicePort& port : service.ports) {
    if (port.protocol == model::Protocol::kUdp) continue;
    if (!HasEndpoint(endpoints.get(), port, std::map<std::string, std::string>())) {
      out->push_back({std::string(metric), ClusterName(port, "", service), ""});
      continue;
    }
    for (const mesh::DestinationRulePtr& rule : rules) {
      for (const auto& subset : rule->spec->subsets()) {
        if (HasEndpoint(endpoints.get(), port, subset.labels())) continue;
        out->push_back({std::string(metric), ClusterName(port, subset.name(), service),
                        StrCat("no endpoint has the labels of subset ", subset.name(), " of DestinationRule ",
                               rule->ns.str(), "/", rule->objects.front()->name().str())});
      }
    }
  }
}

void AddUnready(const mesh::MeshSnapshot& snapshot, const Service& service, std::vector<Finding>* out) {
  const auto endpoints = snapshot.endpoints->Find(service.hostname, service.ns);
  if (endpoints == nullptr) return;
  for (const model::EndpointShard& shard : endpoints->shards) {
    for (const Endpoint& endpoint : shard.endpoints) {
      if (endpoint.health != model::Health::kUnhealthy || endpoint.addresses.empty()) continue;
      out->push_back({"pilot_endpoint_not_ready", endpoint.addresses.front().str(),
                      StrCat(endpoint.workload->name.str(), " of ", service.hostname.str())});
    }
  }
}

// Services that listen on all addresses: the listener of a port has one such chain.
void AddSharedPorts(const mesh::EgressListener& egress, bool dns_capture, std::vector<Finding>* out) {
  std::map<uint32_t, const Service*> taken;
  for (const model::ServicePtr& service : egress.services) {
    const bool allocated = dns_capture && !service->auto_allocated_ipv4.empty();
    if (service->headless() || service->address != "0.0.0.0" || allocated) continue;
    for (const ServicePort& port : service->ports) {
      if (!model::IsTcp(port.protocol) || model::IsTls(port.protocol)) continue;
      const auto [at, first] = taken.emplace(port.port, service.get());
      if (first || at->second->hostname == service->hostname) continue;
      out->push_back({"pilot_conflict_outbound_listener_tcp_over_current_tcp", StrCat("0.0.0.0:", port.port),
                      StrCat(service->hostname.str(), " is not reached: ", at->second->hostname.str(),
                             " has the port")});
    }
  }
}

void AddSharedHosts(const std::vector<mesh::VirtualServicePtr>& virtual_services, std::vector<Finding>* out) {
  std::map<std::string, const config::ConfigObject*> taken;
  for (const mesh::VirtualServicePtr& one : virtual_services) {
    if (!one->for_mesh || one->spec->http().empty() || one->gateway_semantics) continue;
    for (const std::string& host : one->spec->hosts()) {
      const auto [at, first] = taken.emplace(host, one->object.get());
      if (first || at->second == one->object.get()) continue;
      out->push_back({"pilot_vservice_dup_domain", host,
                      StrCat(Describe(KeyOf(*one->object)), " has no effect on it beside ",
                             Describe(KeyOf(*at->second)))});
    }
  }
}

}  // namespace

std::vector<Finding> FindInMesh(const mesh::MeshSnapshot& snapshot) {
  std::vector<Finding> found;
  for (const model::ServicePtr& service : snapshot.services->All()) {
    using model::Resolution;
    if (service->resolution == Resolution::kClientSideLb)
      AddEmptyClusters(snapshot, *service, "pilot_eds_no_instances", &found);
    if (service->resolution == Resolution::kDnsLb || service->resolution == Resolution::kDnsRoundRobinLb)
      AddEmptyClusters(snapshot, *service, "pilot_dns_cluster_without_endpoints", &found);
    AddUnready(snapshot, *service, &found);
  }
  return found;
}

std::vector<Finding> FindInScope(const mesh::SidecarScope& scope, bool dns_capture) {
  std::vector<Finding> found;
  for (const mesh::EgressListener& egress : scope.imports->egress)
    AddSharedPorts(egress, dns_capture, &found);
  for (const auto& virtual_services : scope.virtual_services) AddSharedHosts(virtual_services, &found);
  std::set<std::string> clusters;
  for (const model::ServicePtr& service : scope.imports->services) {
    for (const ServicePort& port : service->ports) {
      const std::string name = ClusterName(port, "", *service);
      if (port.protocol != model::Protocol::kUdp && !clusters.insert(name).second)
        found.push_back({"pilot_duplicate_envoy_clusters", name, ""});
    }
  }
  return found;
}

std::vector<Finding> FindInGateways(const mesh::MergedGateway& gateways) {
  std::set<std::pair<const config::ConfigObject*, int>> served;
  for (const mesh::GatewayPort& port : *gateways.ports) {
    for (const mesh::GatewayServerPtr& server : port.servers)
      served.emplace(server->gateway.get(), server->index);
  }
  std::vector<Finding> found;
  for (const mesh::GatewayServerPtr& server : *gateways.servers) {
    if (served.contains({server->gateway.get(), server->index})) continue;
    found.push_back({"pilot_total_rejected_configs",
                     StrCat(server->name.str(), " spec.servers[", server->index, "]"),
                     "left out: it conflicts with a server before it, or its service has no such port"});
  }
  return found;
}

std::vector<Finding> FindInTargets(const mesh::ProxyScope& scope) {
  std::vector<Finding> found;
  const std::string& id = scope.proxy->id;
  std::map<uint32_t, const mesh::ServiceTarget*> taken;
  for (const mesh::ServiceTarget& target : *scope.targets) {
    const auto [at, first] = taken.emplace(target.target_port, &target);
    const mesh::ServiceTarget& other = *at->second;
    if (first || other.service->hostname == target.service->hostname ||
        other.port->protocol == target.port->protocol)
      continue;
    found.push_back({"pilot_conflict_inbound_listener", id,
                     StrCat("port ", target.target_port, " is ", model::ToString(other.port->protocol),
                            " of ", other.service->hostname.str(), ", not ",
                            model::ToString(target.port->protocol), " of ", target.service->hostname.str())});
  }
  return found;
}

}  // namespace fairlead::debug
