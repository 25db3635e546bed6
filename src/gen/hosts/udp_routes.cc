#include "gen/hosts/udp_routes.h"

#include <algorithm>

#include "base/labels.h"
#include "config/derived_object.h"
#include "gen/hosts/server_hosts.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"

namespace fairlead::gen {
namespace {

using istio::networking::v1alpha3::TCPRoute;

// VirtualServices of other routes, and those that people write, are for connections.
bool IsUdpRoute(const mesh::VirtualService& virtual_service) {
  return LabelOr(virtual_service.object->meta().annotations, config::kParentsAnnotation)
      .starts_with("UDPRoute/");
}

// A rule with one backend gives it no weight.
uint32_t WeightOf(const TCPRoute& rule, int backend) {
  if (rule.route_size() == 1) return 1;
  return static_cast<uint32_t>(std::max(rule.route(backend).weight(), 0));
}

// Null where the router sees no such service, or it has no such port of UDP.
model::ServicePtr Reachable(mesh::View& view, const std::string& host, uint32_t port) {
  if (host.empty()) return nullptr;
  model::ServicePtr service = view.Imported(host);
  const bool there = service != nullptr && service->FindUdpPort(port) != nullptr;
  return there && service->resolution != model::Resolution::kAlias ? service : nullptr;
}

std::optional<UdpRoute> Resolve(mesh::View& view, const TCPRoute& rule) {
  UdpRoute route;
  for (int i = 0; i < rule.route_size(); ++i) {
    const uint32_t weight = WeightOf(rule, i);
    if (weight == 0) continue;
    route.total += weight;
    const auto& destination = rule.route(i).destination();
    const uint32_t port = destination.port().number();
    if (model::ServicePtr service = Reachable(view, destination.host(), port))
      route.backends.push_back({std::move(service), port, weight});
  }
  if (route.total == 0) return std::nullopt;
  return route;
}

}  // namespace

std::optional<UdpRoute> FindUdpRoute(mesh::View& view, const mesh::GatewayPort& port) {
  for (const mesh::GatewayServerPtr& server : port.servers) {
    for (const mesh::VirtualServicePtr& virtual_service : view.VirtualServicesFor(server->name)) {
      if (!IsUdpRoute(*virtual_service) || !TakesAHost(*server, *virtual_service)) continue;
      for (const TCPRoute& rule : virtual_service->spec->tcp()) {
        if (auto route = Resolve(view, rule)) return route;
      }
    }
  }
  return std::nullopt;
}

std::map<std::string, UdpPorts> CollectUdpPorts(mesh::View& view) {
  std::map<std::string, UdpPorts> all;
  for (const mesh::GatewayPort& port : *view.gateway_ports()) {
    if (!port.udp()) continue;
    const auto route = FindUdpRoute(view, port);
    if (!route) continue;
    for (const UdpBackend& backend : route->backends) {
      UdpPorts& of_host = all[backend.service->hostname.str()];
      of_host.service = backend.service;
      of_host.ports.insert(backend.port);
    }
  }
  return all;
}

}  // namespace fairlead::gen
