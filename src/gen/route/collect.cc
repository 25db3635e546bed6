#include "gen/route/collect.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "gen/naming/cluster_name.h"
#include "gen/route/host_group.h"
#include "gen/route/route_name.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"
#include "istio/networking/v1alpha3/sidecar.pb.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"

namespace fairlead::gen::route {
namespace {

namespace api = istio::networking::v1alpha3;
using istio::mesh::v1alpha1::MeshConfig;

// The egress listener whose routes a name asks for: the one of its port or socket, else the one without a
// port, which comes last. Source: Istio's GetEgressListenerForRDS.
std::optional<size_t> FindEgressListener(const mesh::ScopeImports& imports, uint32_t port,
                                         std::string_view name) {
  for (size_t i = 0; i < imports.egress.size(); ++i) {
    const mesh::EgressListener& listener = imports.egress[i];
    if (listener.spec == nullptr || !listener.spec->has_port()) return i;
    if (listener.spec->port().number() != port) continue;
    if (port != 0 || listener.spec->bind() == name) return i;
  }
  return std::nullopt;
}

// Clients of a listener of protocol HTTP_PROXY name the host and port themselves.
bool IsProxyListener(const mesh::EgressListener& listener) {
  return listener.spec != nullptr && listener.spec->has_port() &&
         EqualsIgnoreCase(listener.spec->port().protocol(), "HTTP_PROXY");
}

// The services that count, in the order of the names that the table has them by, so that equal sets are equal
// inputs.
std::vector<model::ServicePtr> ServicesOnPort(const std::vector<model::ServicePtr>& services,
                                              const RoutedServices& table, uint32_t port) {
  std::vector<std::pair<std::string, model::ServicePtr>> found;
  found.reserve(table.All().size());
  for (const model::ServicePtr& service : services) {
    std::string host = LookupHost(*service, port);
    const RoutedService* routed = table.Find(host);
    if (routed != nullptr && routed->service == service.get()) found.emplace_back(std::move(host), service);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  std::vector<model::ServicePtr> out;
  out.reserve(found.size());
  for (auto& [host, service] : found) out.push_back(std::move(service));
  return out;
}

CatchAll CatchAllOf(mesh::View& view, const ClientTraits& client) {
  CatchAll out;
  out.include_attempt_count = client.include_attempt_count;
  out.append_x_forwarded_host = client.append_x_forwarded_host;
  const api::OutboundTrafficPolicy& policy = view.outbound_policy();
  // The mesh's policy has a mode that Sidecars lack; both arrive in the type of the Sidecar's.
  if (static_cast<int>(policy.mode()) == MeshConfig::OutboundTrafficPolicy::ALLOW_ANY_DYNAMIC_DNS) {
    out.mode = CatchAllMode::kDynamicDns;
  } else if (policy.mode() != api::OutboundTrafficPolicy::ALLOW_ANY) {
    out.mode = CatchAllMode::kBlackHole;
  } else if (policy.has_egress_proxy()) {
    const api::Destination& proxy = policy.egress_proxy();
    out.cluster = OutboundClusterName(proxy.port().number(), proxy.subset(), proxy.host());
  }
  return out;
}

}  // namespace

void AddSourceLabels(const mesh::VirtualService& virtual_service, mesh::View& view, LabelMap* labels) {
  for (const api::HTTPRoute& route : virtual_service.spec->http()) {
    for (const api::HTTPMatchRequest& match : route.match()) {
      for (const auto& [key, value] : match.source_labels()) {
        if (const auto label = view.FindLabel(key)) labels->emplace(key, *label);
      }
    }
  }
}

ClientTraits TraitsOf(mesh::View& view) {
  const model::ProxyClass& proxy = view.proxy_class();
  ClientTraits out;
  out.ns = view.client_namespace();
  out.metadata_ns = view.metadata_namespace();
  out.dns_domain = view.domain();
  out.addresses = model::AddressViewOf(proxy, *view.settings(model::SettingsPart::kRoutes));
  const auto proxy_config = view.proxy_config();
  const auto& headers = proxy_config->proxy_headers();
  out.include_attempt_count = !headers.attempt_count().disabled().value();
  out.append_x_forwarded_host = headers.x_forwarded_host().enabled().value();
  out.proxyless = proxy.proxyless;
  return out;
}

Inputs CollectInputs(mesh::View& view, const std::string& name) {
  Inputs out;
  out.name = name;
  const RouteName parsed = ParseRouteName(name);
  if (parsed.kind != RouteName::Kind::kSniffed) out.catch_all = CatchAllOf(view, TraitsOf(view));
  out.hosts = CollectHosts(view, parsed.port, name);
  return out;
}

HostInputsPtr CollectHosts(mesh::View& view, uint32_t port, std::string_view name) {
  const mesh::ScopeImports& imports = view.imports();
  const auto found = FindEgressListener(imports, port, name);
  if (!found) return nullptr;
  const mesh::EgressListener& listener = imports.egress[*found];
  const std::vector<mesh::VirtualServicePtr>& visible = view.routes().virtual_services[*found];
  auto out = std::make_shared<HostInputs>();
  out->port = IsProxyListener(listener) ? 0 : port;
  const RoutedServices table(listener.services, out->port);
  out->services = ServicesOnPort(listener.services, table, out->port);
  // On port 80 VirtualServices for hosts outside the mesh count too.
  out->virtual_services = out->port == 80 ? visible : SelectVirtualServices(visible, table);
  RuleCollector rules(view);
  for (const model::ServicePtr& service : out->services) rules.AddService(*service);
  for (const mesh::VirtualServicePtr& virtual_service : out->virtual_services) {
    AddSourceLabels(*virtual_service, view, &out->client_labels);
    rules.AddDestinations(*virtual_service);
  }
  out->hash_rules = rules.Take();
  out->client = TraitsOf(view);
  out->settings = view.settings(model::SettingsPart::kRoutes);
  return out;
}

void AddOrigins(const HostInputs& inputs, OriginList* out) {
  for (const mesh::VirtualServicePtr& virtual_service : inputs.virtual_services) out->Add(virtual_service);
  for (const auto& [host, rule] : inputs.hash_rules) out->Add(rule);
}

}  // namespace fairlead::gen::route
