#include "gen/route/collect.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "gen/naming/cluster_name.h"
#include "gen/route/hash_policy.h"
#include "gen/route/host_group.h"
#include "gen/route/route_name.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"
#include "istio/networking/v1alpha3/sidecar.pb.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"
#include "model/proxyless.h"

namespace fairlead::gen::route {
namespace {

namespace api = istio::networking::v1alpha3;
using istio::mesh::v1alpha1::MeshConfig;

// The egress listener whose routes a name asks for: the one of its port or socket, else the one without a
// port, which comes last. Source: Istio's GetEgressListenerForRDS.
const mesh::EgressListener* FindEgressListener(const mesh::SidecarScope& scope, uint32_t port,
                                               std::string_view name) {
  for (const mesh::EgressListener& listener : scope.egress) {
    if (listener.spec == nullptr || !listener.spec->has_port()) return &listener;
    if (listener.spec->port().number() != port) continue;
    if (port != 0 || listener.spec->bind() == name) return &listener;
  }
  return nullptr;
}

// Clients of a listener of protocol HTTP_PROXY name the host and port themselves.
bool IsProxyListener(const mesh::EgressListener& listener) {
  return listener.spec != nullptr && listener.spec->has_port() &&
         EqualsIgnoreCase(listener.spec->port().protocol(), "HTTP_PROXY");
}

bool AsksForSourceLabels(const mesh::VirtualService& virtual_service) {
  for (const api::HTTPRoute& route : virtual_service.spec->http()) {
    for (const api::HTTPMatchRequest& match : route.match()) {
      if (match.source_labels_size() > 0) return true;
    }
  }
  return false;
}

// The rules with consistent hashing that the hosts' services have for this client.
class RuleCollector {
 public:
  RuleCollector(const mesh::SidecarScope& scope, const LabelMap& labels) : scope_(scope), labels_(labels) {}

  void AddService(const model::Service& service) { Add(service.hostname, service.ns); }
  void AddHost(const std::string& host) {
    const auto service = scope_.services_by_host.find(host);
    if (service != scope_.services_by_host.end()) AddService(*service->second);
  }
  std::vector<std::pair<Interned, mesh::DestinationRulePtr>> Take() {
    std::sort(rules_.begin(), rules_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    const auto same_host = [](const auto& a, const auto& b) { return a.first == b.first; };
    rules_.erase(std::unique(rules_.begin(), rules_.end(), same_host), rules_.end());
    return std::move(rules_);
  }

 private:
  void Add(const Interned& host, const Interned& ns) {
    mesh::DestinationRulePtr rule = scope_.FindDestinationRule(host, ns, labels_);
    if (rule != nullptr && HasConsistentHash(*rule->spec)) rules_.emplace_back(host, std::move(rule));
  }

  const mesh::SidecarScope& scope_;
  const LabelMap& labels_;
  std::vector<std::pair<Interned, mesh::DestinationRulePtr>> rules_;
};

// The services that count, in the order of the names that the table has them by, so that equal sets are equal
// inputs.
std::vector<model::ServicePtr> ServicesOnPort(const std::vector<model::ServicePtr>& services,
                                              const ServiceTable& table, uint32_t port) {
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

HostInputsPtr CollectHosts(const mesh::SidecarScope& scope, const mesh::EgressListener& listener,
                           uint32_t port, const ClientTraits& client, const LabelMap& labels,
                           const model::SettingsPtr& settings) {
  auto out = std::make_shared<HostInputs>();
  out->port = port;
  const ServiceTable table(listener.services, port);
  out->services = ServicesOnPort(listener.services, table, port);
  // On port 80 VirtualServices for hosts outside the mesh count too.
  out->virtual_services =
      port == 80 ? listener.virtual_services : SelectVirtualServices(listener.virtual_services, table);
  RuleCollector rules(scope, labels);
  for (const model::ServicePtr& service : out->services) rules.AddService(*service);
  for (const mesh::VirtualServicePtr& virtual_service : out->virtual_services) {
    if (AsksForSourceLabels(*virtual_service)) out->client_labels = labels;
    for (const api::HTTPRoute& route : virtual_service->spec->http()) {
      for (const auto& destination : route.route()) rules.AddHost(destination.destination().host());
    }
  }
  out->hash_rules = rules.Take();
  out->client = client;
  out->settings = settings;
  return out;
}

CatchAll CatchAllOf(const mesh::SidecarScope& scope, const ClientTraits& client) {
  CatchAll out;
  out.include_attempt_count = client.include_attempt_count;
  out.append_x_forwarded_host = client.append_x_forwarded_host;
  const api::OutboundTrafficPolicy& policy = *scope.outbound_traffic_policy;
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

ClientTraits TraitsOf(const mesh::ProxyScope& scope, const model::Settings& settings) {
  ClientTraits out;
  out.ns = scope.proxy->ns;
  out.metadata_ns = scope.proxy->metadata.ns;
  out.dns_domain = scope.proxy->domain;
  out.addresses = model::AddressViewOf(*scope.proxy, settings.cluster_id);
  const auto& headers = scope.proxy_config->proxy_headers();
  out.include_attempt_count = !headers.attempt_count().disabled().value();
  out.append_x_forwarded_host = headers.x_forwarded_host().enabled().value();
  out.proxyless = model::IsProxyless(*scope.proxy);
  return out;
}

std::string SharingKey(const mesh::SidecarScope& scope, const ClientTraits& client, const LabelMap& labels) {
  const model::AddressView& view = client.addresses;
  unsigned flags = 0;
  for (const bool flag : {view.ipv4, view.ipv6, view.own_cluster, view.auto_allocated,
                          client.include_attempt_count, client.append_x_forwarded_host, client.proxyless}) {
    flags = flags << 1 | static_cast<unsigned>(flag);
  }
  std::string out = StrCat(scope.id, "|", client.ns.str(), "|", client.metadata_ns.str(), "|",
                           client.dns_domain.str(), "|", flags);
  for (const auto& [name, value] : labels) StrAppend(&out, "|", name, "=", value);
  return out;
}

bool LabelsMatter(const mesh::SidecarScope& scope) {
  for (const auto& [host, rules] : scope.destination_rules) {
    for (const mesh::DestinationRulePtr& rule : rules) {
      if (rule->spec->has_workload_selector()) return true;
    }
  }
  return std::any_of(scope.egress.begin(), scope.egress.end(), [](const mesh::EgressListener& listener) {
    const auto& all = listener.virtual_services;
    return std::any_of(all.begin(), all.end(), [](const auto& v) { return AsksForSourceLabels(*v); });
  });
}

Inputs CollectInputs(const mesh::SidecarScope& scope, const ClientTraits& client, const LabelMap& labels,
                     const model::SettingsPtr& settings, const std::string& name) {
  Inputs out;
  out.name = name;
  const RouteName parsed = ParseRouteName(name);
  if (parsed.kind != RouteName::Kind::kSniffed) out.catch_all = CatchAllOf(scope, client);
  out.hosts = CollectHosts(scope, client, labels, settings, parsed.port, name);
  return out;
}

HostInputsPtr CollectHosts(const mesh::SidecarScope& scope, const ClientTraits& client,
                           const LabelMap& labels, const model::SettingsPtr& settings, uint32_t port,
                           std::string_view name) {
  const mesh::EgressListener* listener = FindEgressListener(scope, port, name);
  if (listener == nullptr) return nullptr;
  return CollectHosts(scope, *listener, IsProxyListener(*listener) ? 0 : port, client, labels, settings);
}

}  // namespace fairlead::gen::route
