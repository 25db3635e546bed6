#include "gen/gateway/build_routes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/strings.h"
#include "envoy/config/route/v3/route.pb.h"
#include "gen/naming/cluster_name.h"
#include "gen/route/domains.h"
#include "gen/route/http_route.h"
#include "gen/route/match.h"
#include "gen/route/sessions.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/networking/v1alpha3/gateway.pb.h"
#include "model/host_name.h"
#include "proto/messages.h"
#include "proto/wire.h"

namespace fairlead::gen::gateway {
namespace {

namespace api = istio::networking::v1alpha3;
namespace pb = envoy::config::route::v3;

// Envoy's own limit of 4 KiB is less than what validation lets a directResponse have.
constexpr uint32_t kMaxDirectResponseBody = 1024 * 1024;

const DestinationService* FindService(const VirtualServiceInputs& inputs, const std::string& host) {
  const auto found =
      std::lower_bound(inputs.services.begin(), inputs.services.end(), host,
                       [](const DestinationService& s, const std::string& h) { return s.host < h; });
  return found != inputs.services.end() && found->host == host ? &*found : nullptr;
}

// Source: Istio's GetDestinationCluster.
std::string ClusterOf(const api::Destination& destination, const VirtualServiceInputs& inputs) {
  if (destination.host().empty()) return "UnknownService";
  const DestinationService* service = FindService(inputs, destination.host());
  uint32_t port = inputs.port;
  if (destination.has_port()) {
    port = destination.port().number();
  } else if (service != nullptr && service->only_port != 0) {
    port = service->only_port;
  }
  const bool alias = service != nullptr && !service->external_name.empty();
  return OutboundClusterName(port, destination.subset(),
                             alias ? service->external_name.str() : destination.host());
}

struct VirtualHost {
  std::string name;
  std::vector<std::string> domains;
  std::vector<EncodedRoutesPtr> routes;
  std::string session;
  bool require_tls = false;
};

// The virtual hosts by their first domain.
using VirtualHosts = std::map<std::string, VirtualHost>;

VirtualHost& HostOf(const std::string& host, uint32_t port, VirtualHosts* hosts) {
  const auto [found, is_new] = hosts->try_emplace(host);
  if (is_new) {
    found->second.name = route::HostAndPort(host, port);
    found->second.domains = {host};
  }
  return found->second;
}

VirtualHosts GroupHosts(const GatewayRouteInputs& inputs) {
  VirtualHosts hosts;
  auto binding = inputs.bindings.begin();
  for (size_t i = 0; i < inputs.route->servers.size(); ++i) {
    const mesh::GatewayServer& server = *inputs.route->servers[i];
    const uint32_t port = server.spec().port().number();
    const bool redirects = server.spec().tls().https_redirect();
    for (; binding != inputs.bindings.end() && binding->server == i; ++binding) {
      for (const std::string& name : binding->hosts) {
        VirtualHost& host = HostOf(name, port, &hosts);
        const auto session = binding->sessions.find(name);
        if (host.routes.empty() && session != binding->sessions.end()) host.session = session->second;
        host.routes.push_back(binding->routes);
        host.require_tls |= redirects;
      }
    }
    if (!redirects) continue;
    for (const std::string& name : server.hosts) HostOf(AsciiLower(name), port, &hosts).require_tls = true;
  }
  return hosts;
}

// With `merge`, hosts with the same routes become one, named by the most specific: routes are large. Source:
// Istio's collapseDuplicateRoutes.
std::vector<VirtualHost> Collapse(VirtualHosts hosts, bool merge) {
  std::vector<const std::string*> order;
  order.reserve(hosts.size());
  for (const auto& [name, host] : hosts) order.push_back(&name);
  std::sort(order.begin(), order.end(),
            [](const std::string* a, const std::string* b) { return model::MoreSpecificHost(*a, *b); });
  std::vector<VirtualHost> all;
  std::map<std::vector<EncodedRoutesPtr>, size_t> known;  // the last host with these routes
  for (const std::string* name : order) {
    VirtualHost& host = hosts[*name];
    const auto same = known.find(host.routes);
    if (merge && same != known.end() && all[same->second].require_tls == host.require_tls) {
      auto& domains = all[same->second].domains;
      domains.insert(domains.end(), host.domains.begin(), host.domains.end());
    } else {
      known[host.routes] = all.size();
      all.push_back(std::move(host));
    }
  }
  std::sort(all.begin(), all.end(),
            [](const VirtualHost& a, const VirtualHost& b) { return a.name < b.name; });
  return all;
}

// Those that take every request come last, so that they hide no other VirtualService's.
void AppendRoutes(const VirtualHost& host, std::string* out) {
  for (const bool catch_all : {false, true}) {
    for (const EncodedRoutesPtr& routes : host.routes) {
      for (const EncodedRoute& route : *routes) {
        if (route.catch_all == catch_all)
          proto::AppendField(pb::VirtualHost::kRoutesFieldNumber, route.bytes, out);
      }
    }
  }
}

void AppendVirtualHost(const VirtualHost& host, bool include_attempt_count, std::string* out) {
  std::string bytes;
  proto::AppendField(pb::VirtualHost::kNameFieldNumber, host.name, &bytes);
  for (const std::string& domain : host.domains)
    proto::AppendField(pb::VirtualHost::kDomainsFieldNumber, domain, &bytes);
  AppendRoutes(host, &bytes);
  pb::VirtualHost rest;
  if (host.require_tls) rest.set_require_tls(pb::VirtualHost::ALL);
  rest.set_include_request_attempt_count(include_attempt_count);
  rest.AppendToString(&bytes);
  bytes.append(route::EncodedHostSession(host.session));
  proto::AppendField(pb::RouteConfiguration::kVirtualHostsFieldNumber, bytes, out);
}

// Answers 404 to every request, having no routes.
VirtualHost BlackHole(uint32_t port) {
  VirtualHost host;
  host.name = route::HostAndPort("blackhole", port);
  host.domains = {"*"};
  return host;
}

}  // namespace

std::vector<EncodedRoute> BuildVirtualServiceRoutes(const VirtualServiceInputs& inputs) {
  const StringSet gateways = {inputs.gateway.str()};
  route::RouteOptions options;
  options.port = inputs.port;
  options.tls = inputs.tls;
  options.http3 = inputs.http3;
  options.append_x_forwarded_host = inputs.append_x_forwarded_host;
  options.client_namespace = inputs.metadata_ns;
  options.client_labels = &inputs.client_labels;
  options.gateways = &gateways;
  options.mirror_as_is = inputs.settings->features.mirror_as_is;
  const auto& mesh = *inputs.settings->mesh;
  if (mesh.has_default_http_retry_policy()) options.default_retries = &mesh.default_http_retry_policy();
  options.cluster_of = [&inputs](const api::Destination& destination) {
    return ClusterOf(destination, inputs);
  };
  if (inputs.settings->features.sessions) {
    options.session_of = [&inputs](const api::Destination& destination) {
      const DestinationService* service = FindService(inputs, destination.host());
      return service == nullptr ? "" : service->session;
    };
  }
  options.hash_of = [&inputs](const api::Destination& destination) {
    const api::DestinationRule* rule = route::FindRule(inputs.hash_rules, destination.host());
    return rule == nullptr ? nullptr : route::HashOfDestination(*rule, destination);
  };
  std::vector<EncodedRoute> routes;
  for (const pb::Route& route : route::BuildHttpRoutes(*inputs.virtual_service, options))
    routes.push_back({proto::DeterministicBytes(route), route::IsCatchAll(route)});
  return routes;
}

std::string BuildGatewayRouteConfiguration(const GatewayRouteInputs& inputs) {
  // In the order of the fields' numbers, as protobuf writes messages: some readers count on it.
  std::string out;
  proto::AppendField(pb::RouteConfiguration::kNameFieldNumber, inputs.name, &out);
  const std::vector<VirtualHost> hosts = Collapse(GroupHosts(inputs), inputs.merge_hosts);
  for (const VirtualHost& host : hosts) AppendVirtualHost(host, inputs.include_attempt_count, &out);
  if (hosts.empty()) {
    AppendVirtualHost(BlackHole(inputs.route->servers.front()->spec().port().number()), false, &out);
  }
  pb::RouteConfiguration rest;
  rest.mutable_validate_clusters()->set_value(false);
  rest.mutable_max_direct_response_body_size_bytes()->set_value(kMaxDirectResponseBody);
  rest.set_ignore_port_in_host_matching(true);
  rest.AppendToString(&out);
  return out;
}

}  // namespace fairlead::gen::gateway
