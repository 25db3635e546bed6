#include "gen/route/host_group.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "gen/naming/cluster_name.h"
#include "gen/route/http_route.h"
#include "gen/route/semantics.h"
#include "gen/route/sessions.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"
#include "mesh/index/host_map.h"
#include "model/host_name.h"
#include "proto/messages.h"
#include "proto/wire.h"

namespace fairlead::gen::route {
namespace {

namespace api = istio::networking::v1alpha3;
namespace pb = envoy::config::route::v3;

// Which VirtualService names a host best: where wildcards overlap, a service goes to one of them only.
using BestMatches = mesh::HostMap<const mesh::VirtualService*>;

BestMatches IndexHosts(const std::vector<mesh::VirtualServicePtr>& virtual_services) {
  BestMatches best;
  for (const mesh::VirtualServicePtr& virtual_service : virtual_services) {
    for (const std::string& host : virtual_service->spec->hosts()) {
      const mesh::VirtualService*& first = best[host];
      if (first == nullptr) first = virtual_service.get();
    }
  }
  return best;
}

bool ServesHttp(const model::ServicePort& port) {
  return model::IsHttp(port.protocol) || port.protocol == model::Protocol::kUnsupported;
}

// The hosts of a VirtualService, told apart: services, and names that no service has.
struct SplitHosts {
  std::vector<std::string> others;
  std::vector<const RoutedService*> services;
};

void SplitWildcard(const mesh::VirtualService& virtual_service, const std::string& wildcard,
                   const BestMatches& best, const RoutedServices& table, SplitHosts* out) {
  bool met = false;
  for (const RoutedService& service : table.All()) {
    if (!model::HostsMatch(service.host, wildcard)) continue;
    met = true;
    const auto* winner = best.FindMostSpecific(service.service->hostname.str());
    if (winner != nullptr && *winner == &virtual_service) out->services.push_back(&service);
  }
  if (!met) out->others.push_back(wildcard);
}

SplitHosts Split(const mesh::VirtualService& virtual_service, Semantics semantics, const BestMatches& best,
                 const RoutedServices& table) {
  SplitHosts out;
  std::vector<std::string> wildcards;
  for (const std::string& host : virtual_service.spec->hosts()) {
    std::string name = AsciiLower(host);
    if (model::IsWildcard(name)) {
      wildcards.push_back(std::move(name));
    } else if (const RoutedService* service = table.Find(name)) {
      out.services.push_back(service);
    } else {
      out.others.push_back(host);
    }
  }
  for (const std::string& wildcard : wildcards) {
    if (semantics == Semantics::kGatewayApi) {
      out.others.push_back(wildcard);
    } else {
      SplitWildcard(virtual_service, wildcard, best, table, &out);
    }
  }
  return out;
}

// An HTTPRoute counts for clients of its own namespace, or for services of it; without a service on the port
// it is for nothing.
bool MayRoute(const mesh::VirtualService& virtual_service, const std::vector<const RoutedService*>& services,
              const Interned& client_ns) {
  const Interned& ns = virtual_service.object->ns();
  return std::any_of(services.begin(), services.end(),
                     [&](const RoutedService* s) { return ns == client_ns || s->service->ns == ns; });
}

// An alias stands for the service that it names; a destination without a port means the service's only one,
// or the port that the request came to. Source: Istio's GetDestinationCluster.
std::string ClusterOf(const api::Destination& destination, const RoutedServices& table,
                      uint32_t listener_port) {
  if (destination.host().empty()) return "UnknownService";
  const RoutedService* service = table.Find(destination.host());
  uint32_t port = listener_port;
  if (destination.has_port()) {
    port = destination.port().number();
  } else if (service != nullptr && service->ports.size() == 1) {
    port = service->ports.front().port;
  }
  const bool alias = service != nullptr && !service->service->external_name.empty();
  return OutboundClusterName(port, destination.subset(),
                             alias ? service->service->external_name : destination.host());
}

const api::HTTPRetry* DefaultRetries(const HostInputs& inputs) {
  const auto& mesh = *inputs.settings->mesh;
  return mesh.has_default_http_retry_policy() ? &mesh.default_http_retry_policy() : nullptr;
}

RouteOptions OptionsFor(const HostInputs& inputs, const RoutedServices& table) {
  static const auto* const kMeshGateway = new StringSet{"mesh"};
  RouteOptions options;
  options.port = inputs.port;
  options.proxyless = inputs.client.proxyless;
  options.append_x_forwarded_host = inputs.client.append_x_forwarded_host;
  options.client_namespace = inputs.client.metadata_ns;
  options.client_labels = &inputs.client_labels;
  options.gateways = kMeshGateway;
  options.mirror_as_is = inputs.settings->features.mirror_as_is;
  options.default_retries = DefaultRetries(inputs);
  options.cluster_of = [&inputs, &table](const api::Destination& destination) {
    return ClusterOf(destination, table, inputs.port);
  };
  if (inputs.settings->features.sessions) {
    options.session_of = [&inputs, &table](const api::Destination& destination) {
      const RoutedService* service = table.Find(destination.host());
      return service == nullptr ? "" : SessionOf(inputs.settings->features, service->service->labels);
    };
  }
  options.hash_of = [&inputs](const api::Destination& destination) {
    const api::DestinationRule* rule = FindRule(inputs.hash_rules, destination.host());
    return rule == nullptr ? nullptr : HashOfDestination(*rule, destination);
  };
  return options;
}

EncodedRoutes EncodeRoutes(const std::vector<pb::Route>& routes) {
  auto out = std::make_shared<std::string>();
  for (const pb::Route& route : routes) {
    proto::AppendField(pb::VirtualHost::kRoutesFieldNumber, proto::DeterministicBytes(route), out.get());
  }
  return out;
}

void GroupVirtualService(const mesh::VirtualService& virtual_service, const HostInputs& inputs,
                         const RouteOptions& options, const BestMatches& best, const RoutedServices& table,
                         std::vector<HostGroup>* out) {
  const EncodedRoutes routes = EncodeRoutes(BuildHttpRoutes(virtual_service, options));
  if (routes->empty()) return;
  const Semantics semantics = SemanticsOf(*virtual_service.object);
  SplitHosts hosts = Split(virtual_service, semantics, best, table);
  if (semantics == Semantics::kGatewayApi && !MayRoute(virtual_service, hosts.services, inputs.client.ns))
    return;
  std::map<uint32_t, std::vector<const RoutedService*>> by_port;
  for (const RoutedService* service : hosts.services) {
    for (const model::ServicePort& port : service->ports) {
      if (ServesHttp(port)) by_port[port.port].push_back(service);
    }
  }
  // Hosts outside the mesh can be routed on the port of plain HTTP only.
  if (by_port.empty() && inputs.port == 80) by_port[80];
  for (auto& [port, services] : by_port) out->push_back({port, hosts.others, std::move(services), routes});
}

// The groups of services without VirtualServices: their routes differ in little, so one message is made once.
class DefaultGroups {
 public:
  explicit DefaultGroups(const HostInputs& inputs) : inputs_(inputs) {
    BuildDefaultRoute("", 0, nullptr, DefaultRetries(inputs), &route_);
  }

  void Add(const RoutedService& service, std::vector<HostGroup>* out) {
    const api::DestinationRule* rule = FindRule(inputs_.hash_rules, service.service->hostname.str());
    for (const model::ServicePort& port : service.ports) {
      if (!ServesHttp(port)) continue;
      const ConsistentHash* hash = rule == nullptr ? nullptr : HashOfServicePort(*rule, port.port);
      out->push_back({port.port, {}, {&service}, Encode(service.host, port.port, hash)});
    }
  }

 private:
  EncodedRoutes Encode(std::string_view host, uint32_t port, const ConsistentHash* hash) {
    route_.mutable_decorator()->set_operation(TraceOperation(host, port));
    route_.mutable_route()->set_cluster(OutboundClusterName(port, "", host));
    route_.mutable_route()->clear_hash_policy();
    if (hash != nullptr) AddHashPolicy(*hash, route_.mutable_route());
    auto out = std::make_shared<std::string>();
    proto::AppendField(pb::VirtualHost::kRoutesFieldNumber, route_.SerializeAsString(), out.get());
    return out;
  }

  const HostInputs& inputs_;
  pb::Route route_;
};

}  // namespace

std::vector<HostGroup> GroupHosts(const HostInputs& inputs, const RoutedServices& table) {
  std::vector<HostGroup> out;
  const RouteOptions options = OptionsFor(inputs, table);
  const BestMatches best = IndexHosts(inputs.virtual_services);
  for (const mesh::VirtualServicePtr& virtual_service : inputs.virtual_services) {
    GroupVirtualService(*virtual_service, inputs, options, best, table, &out);
  }
  absl::flat_hash_set<const RoutedService*> routed;
  for (const HostGroup& group : out) routed.insert(group.services.begin(), group.services.end());
  DefaultGroups defaults(inputs);
  for (const RoutedService& service : table.All()) {
    // An alias is a domain of the service that it stands for.
    const bool alias = service.service->resolution == model::Resolution::kAlias;
    if (!alias && !routed.contains(&service)) defaults.Add(service, &out);
  }
  return out;
}

std::vector<mesh::VirtualServicePtr> SelectVirtualServices(
    const std::vector<mesh::VirtualServicePtr>& virtual_services, const RoutedServices& table) {
  const auto meets = [&table](const std::string& host) {
    const std::string name = AsciiLower(host);
    if (table.Find(name) != nullptr) return true;
    if (model::IsWildcard(name)) {
      return std::any_of(table.All().begin(), table.All().end(),
                         [&](const RoutedService& s) { return model::HostsMatch(name, s.host); });
    }
    return std::any_of(table.Wildcards().begin(), table.Wildcards().end(),
                       [&](const RoutedService* s) { return model::HostsMatch(name, s->host); });
  };
  std::vector<mesh::VirtualServicePtr> out;
  for (const mesh::VirtualServicePtr& virtual_service : virtual_services) {
    const auto& hosts = virtual_service->spec->hosts();
    if (std::any_of(hosts.begin(), hosts.end(), meets)) out.push_back(virtual_service);
  }
  return out;
}

}  // namespace fairlead::gen::route
