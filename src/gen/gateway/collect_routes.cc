#include "gen/gateway/collect_routes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/strings.h"
#include "gen/route/collect.h"
#include "gen/route/sessions.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"
#include "istio/networking/v1alpha3/gateway.pb.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"
#include "model/host_name.h"

namespace fairlead::gen::gateway {
namespace {

namespace api = istio::networking::v1alpha3;
using VirtualServices = mesh::VirtualServiceIndex::List;

// The server's hosts that VirtualServices of `ns` may have.
std::vector<std::string_view> HostsFor(const mesh::GatewayServer& server, std::string_view ns) {
  std::vector<std::string_view> hosts;
  for (const std::string_view host : server.hosts) {
    const size_t slash = host.find('/');
    if (slash == std::string_view::npos) {
      hosts.push_back(host);
    } else if (host.substr(0, slash) == ns || host.substr(0, slash) == "*") {
      hosts.push_back(host.substr(slash + 1));
    }
  }
  return hosts;
}

// What a server and a VirtualService have in common: of two that meet the narrower. Source: Istio's
// host.Names.Intersection.
std::vector<std::string> Intersection(const std::vector<std::string_view>& of_server,
                                      const api::VirtualService& virtual_service) {
  std::vector<std::string> common;
  const auto add = [&common](std::string_view host) {
    if (std::find(common.begin(), common.end(), host) == common.end()) common.emplace_back(host);
  };
  for (const std::string_view own : of_server) {
    for (const std::string& other : virtual_service.hosts()) {
      if (model::HostSubsetOf(own, other)) {
        add(own);
      } else if (model::HostSubsetOf(other, own)) {
        add(other);
      }
    }
  }
  return common;
}

class Collector {
 public:
  Collector(mesh::View& view, const std::string& name, const mesh::GatewayRoutePtr& route,
            const MakeRoutes& make)
      : view_(view), make_(make) {
    inputs_.name = name;
    inputs_.route = route;
    const auto config = view.proxy_config();
    const auto& headers = config->proxy_headers();
    inputs_.include_attempt_count = !headers.attempt_count().disabled().value();
    base_.http3 = route->http3;
    base_.metadata_ns = view.metadata_namespace();
    base_.append_x_forwarded_host = headers.x_forwarded_host().enabled().value();
    base_.settings = view.settings(model::SettingsPart::kRoutes);
    inputs_.merge_hosts = base_.settings->features.merge_hosts;
  }

  GatewayRouteInputs Collect() {
    for (size_t i = 0; i < inputs_.route->servers.size(); ++i) AddServer(i);
    return std::move(inputs_);
  }

 private:
  void AddServer(size_t index) {
    const mesh::GatewayServer& server = *inputs_.route->servers[index];
    const auto [known, is_new] = virtual_services_.try_emplace(server.name);
    if (is_new) known->second = view_.VirtualServicesFor(server.name);
    for (const mesh::VirtualServicePtr& virtual_service : known->second) {
      std::vector<std::string> hosts =
          Intersection(HostsFor(server, virtual_service->object->ns()), *virtual_service->spec);
      if (hosts.empty()) continue;
      EncodedRoutesPtr routes = RoutesOf(server, virtual_service);
      if (routes->empty()) continue;
      for (std::string& host : hosts) host = AsciiLower(host);
      inputs_.bindings.push_back(
          {index, std::move(hosts), std::move(routes), virtual_service, SessionsOf(*virtual_service)});
    }
  }

  // Of several servers of one Gateway that share the route configuration, the first one's port counts.
  EncodedRoutesPtr RoutesOf(const mesh::GatewayServer& server,
                            const mesh::VirtualServicePtr& virtual_service) {
    EncodedRoutesPtr& routes = routes_[{server.name, virtual_service.get()}];
    if (routes != nullptr && !routes->empty()) return routes;
    VirtualServiceInputs inputs = base_;
    inputs.virtual_service = virtual_service;
    inputs.gateway = server.name;
    inputs.port = server.spec().port().number();
    inputs.tls = server.tls;
    inputs.services = ServicesOf(*virtual_service);
    route::AddSourceLabels(*virtual_service, view_, &inputs.client_labels);
    route::RuleCollector rules(view_);
    rules.AddDestinations(*virtual_service);
    inputs.hash_rules = rules.Take();
    return routes = make_(inputs);
  }

  std::map<std::string, std::string> SessionsOf(const mesh::VirtualService& virtual_service) {
    std::map<std::string, std::string> sessions;
    if (!base_.settings->features.sessions) return sessions;
    for (const DestinationService& service : ServicesOf(virtual_service)) {
      if (!service.session.empty()) sessions.emplace(service.host, service.session);
    }
    return sessions;
  }

  std::vector<DestinationService> ServicesOf(const mesh::VirtualService& virtual_service) {
    std::map<std::string, DestinationService> services;
    const auto add = [&](const api::Destination& destination) {
      if (destination.host().empty() || services.contains(destination.host())) return;
      const model::ServicePtr service = Lookup(destination.host(), virtual_service.object->ns());
      if (service == nullptr) return;
      DestinationService found{destination.host(), 0, service->external_name,
                               route::SessionOf(base_.settings->features, service->labels)};
      if (service->ports.size() == 1) found.only_port = service->ports.front().port;
      services.emplace(destination.host(), std::move(found));
    };
    for (const api::HTTPRoute& route : virtual_service.spec->http()) {
      for (const auto& destination : route.route()) add(destination.destination());
      if (route.has_mirror()) add(route.mirror());
      for (const auto& mirror : route.mirrors()) add(mirror.destination());
    }
    std::vector<DestinationService> out;
    for (auto& [host, service] : services) {
      const bool matters =
          service.only_port != 0 || !service.external_name.empty() || !service.session.empty();
      if (matters) out.push_back(std::move(service));
    }
    return out;
  }

  // The VirtualService's own namespace first, where the router sees that. Source: Istio's
  // buildNameToServiceMapForHTTPRoutes.
  model::ServicePtr Lookup(const std::string& host, const Interned& ns) {
    for (const model::ServicePtr& service : view_.Host(host)) {
      if (service->ns == ns && service->visibility.VisibleIn(view_.client_namespace())) return service;
    }
    return view_.Imported(host);
  }

  mesh::View& view_;
  const MakeRoutes& make_;
  GatewayRouteInputs inputs_;
  VirtualServiceInputs base_;
  std::map<Interned, VirtualServices> virtual_services_;  // by Gateway
  std::map<std::pair<Interned, const mesh::VirtualService*>, EncodedRoutesPtr> routes_;
};

}  // namespace

GatewayRouteInputs CollectRoute(mesh::View& view, const std::string& name, const mesh::GatewayRoutePtr& route,
                                const MakeRoutes& make) {
  return Collector(view, name, route, make).Collect();
}

}  // namespace fairlead::gen::gateway
