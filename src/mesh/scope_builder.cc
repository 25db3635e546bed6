#include "mesh/scope_builder.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/networking/v1alpha3/sidecar.pb.h"
#include "mesh/egress_hosts.h"
#include "mesh/host_map.h"
#include "mesh/scope_services.h"
#include "mesh/service_index.h"

namespace fairlead::mesh {
namespace {

namespace api = istio::networking::v1alpha3;
using config::ConfigPtr;
using model::ServicePtr;
using OutboundPolicyPtr = std::shared_ptr<const api::OutboundTrafficPolicy>;

// A listener with a port takes the services' ports of that number only, unless it is a proxy for all of them.
bool NeedsPortMatch(const api::IstioEgressListener& listener) {
  return listener.port().number() != 0 && !EqualsIgnoreCase(listener.port().protocol(), "HTTP_PROXY");
}

// Mode for mode the same object, so that scopes stay equal.
OutboundPolicyPtr PolicyWithMode(api::OutboundTrafficPolicy::Mode mode) {
  static const auto make = [](api::OutboundTrafficPolicy::Mode m) {
    auto policy = std::make_shared<api::OutboundTrafficPolicy>();
    policy->set_mode(m);
    return OutboundPolicyPtr(std::move(policy));
  };
  static const auto* registry_only = new OutboundPolicyPtr(make(api::OutboundTrafficPolicy::REGISTRY_ONLY));
  static const auto* allow_any = new OutboundPolicyPtr(make(api::OutboundTrafficPolicy::ALLOW_ANY));
  // A mode of the mesh that Sidecars cannot ask for.
  static const auto kDynamicDns = static_cast<api::OutboundTrafficPolicy::Mode>(
      istio::mesh::v1alpha1::MeshConfig::OutboundTrafficPolicy::ALLOW_ANY_DYNAMIC_DNS);
  static const auto* dynamic_dns = new OutboundPolicyPtr(make(kDynamicDns));
  if (mode == kDynamicDns) return *dynamic_dns;
  return mode == api::OutboundTrafficPolicy::ALLOW_ANY ? *allow_any : *registry_only;
}

OutboundPolicyPtr OutboundPolicy(const model::Settings& settings, const ConfigPtr& sidecar) {
  if (sidecar != nullptr && sidecar->Spec<api::Sidecar>().has_outbound_traffic_policy()) {
    const auto spec = sidecar->SharedSpec<api::Sidecar>();
    return OutboundPolicyPtr(spec, &spec->outbound_traffic_policy());
  }
  const auto mode = settings.mesh->outbound_traffic_policy().mode();
  return PolicyWithMode(static_cast<api::OutboundTrafficPolicy::Mode>(mode));
}

// For each service that a virtual service has a host for, the virtual service with the most specific such
// host; of several with the same host the first.
void IndexMostSpecific(EgressListener* listener) {
  if (listener->virtual_services.empty()) return;
  HostMap<VirtualServicePtr> by_host;
  for (const VirtualServicePtr& virtual_service : listener->virtual_services) {
    for (const std::string& host : virtual_service->spec->hosts()) {
      VirtualServicePtr& first = by_host[host];
      if (first == nullptr) first = virtual_service;
    }
  }
  for (const ServicePtr& service : listener->services) {
    const VirtualServicePtr* best = by_host.FindMostSpecific(service->hostname);
    if (best != nullptr) listener->most_specific_virtual_service.emplace(service->hostname, *best);
  }
}

class Builder {
 public:
  Builder(std::string_view ns, ScopeReads* reads, ServiceVariants* variants)
      : reads_(reads),
        variants_(variants),
        scope_(std::make_shared<SidecarScope>()),
        union_(scope_.get(), variants) {
    scope_->ns = ns;
  }

  std::shared_ptr<SidecarScope> BuildForSidecar(const ConfigPtr& sidecar);
  std::shared_ptr<SidecarScope> BuildForRouter();

 private:
  EgressListener DefaultListener() const;
  EgressListener Listener(const api::IstioEgressListener& spec) const;
  std::vector<ServicePtr> Candidates(const EgressHosts& hosts) const;
  std::vector<ServicePtr> Import(const EgressHosts& hosts, const EgressListener& listener) const;
  std::vector<VirtualServicePtr> ImportVirtualServices(const EgressHosts& hosts) const;
  void AddDestinations(const EgressListener& listener);
  void AddDestination(const std::string& host, std::span<const uint32_t> ports,
                      const EgressListener& listener);
  bool Follows(const RouteDestination& destination) const;
  void SelectDestinationRules();
  void ListNamespaces();

  ScopeReads* reads_;
  ServiceVariants* variants_;
  std::shared_ptr<SidecarScope> scope_;
  ScopeServices union_;
};

std::shared_ptr<SidecarScope> Builder::BuildForSidecar(const ConfigPtr& sidecar) {
  scope_->object = sidecar;
  scope_->sidecar = sidecar == nullptr ? nullptr : &sidecar->Spec<api::Sidecar>();
  if (scope_->sidecar == nullptr || scope_->sidecar->egress().empty()) {
    scope_->egress.push_back(DefaultListener());
  } else {
    for (const api::IstioEgressListener& spec : scope_->sidecar->egress())
      scope_->egress.push_back(Listener(spec));
  }
  size_t expected = 0;
  for (const EgressListener& listener : scope_->egress) expected += listener.services.size();
  union_.Reserve(expected);
  for (const EgressListener& listener : scope_->egress) {
    // What is asked for by name goes before what routes lead to.
    for (const ServicePtr& service : listener.services) union_.Add(service);
    AddDestinations(listener);
  }
  scope_->outbound_traffic_policy = OutboundPolicy(reads_->settings(), sidecar);
  SelectDestinationRules();
  ListNamespaces();
  return std::move(scope_);
}

std::shared_ptr<SidecarScope> Builder::BuildForRouter() {
  const std::vector<ServicePtr> visible = reads_->VisibleServices();
  union_.Reserve(visible.size());
  for (const ServicePtr& service : visible) union_.Add(service);
  EgressListener listener;
  listener.virtual_services = reads_->CompetingVirtualServices();
  scope_->egress.push_back(std::move(listener));
  SelectDestinationRules();
  ListNamespaces();
  return std::move(scope_);
}

EgressListener Builder::DefaultListener() const {
  static const auto* everything = new std::vector<std::string>{"*/*"};
  const EgressHosts hosts(*everything, scope_->ns);
  EgressListener listener;
  listener.virtual_services = ImportVirtualServices(hosts);
  listener.services = Import(hosts, listener);
  IndexMostSpecific(&listener);
  return listener;
}

EgressListener Builder::Listener(const api::IstioEgressListener& spec) const {
  const EgressHosts hosts(spec.hosts(), scope_->ns);
  EgressListener listener;
  listener.spec = &spec;
  listener.match_port = NeedsPortMatch(spec);
  listener.virtual_services = ImportVirtualServices(hosts);
  listener.services = Import(hosts, listener);
  IndexMostSpecific(&listener);
  return listener;
}

// All services that the hosts could mean: found one by one where each host names just one.
std::vector<ServicePtr> Builder::Candidates(const EgressHosts& hosts) const {
  if (!hosts.all_exact()) {
    const auto from = hosts.Namespaces();
    return from ? reads_->VisibleServices(*from) : reads_->VisibleServices();
  }
  std::vector<ServicePtr> candidates;
  for (const auto& [ns, patterns] : hosts.by_namespace()) {
    for (const std::string& hostname : patterns.exact()) {
      ServicePtr service = reads_->FindService(hostname, ns);
      if (service != nullptr && service->visibility.VisibleIn(scope_->ns))
        candidates.push_back(std::move(service));
    }
  }
  std::sort(candidates.begin(), candidates.end(), ServiceBefore);
  return candidates;
}

std::vector<ServicePtr> Builder::Import(const EgressHosts& hosts, const EgressListener& listener) const {
  std::vector<ServicePtr> imported = Candidates(hosts);
  std::erase_if(imported, [&](ServicePtr& service) {
    if (!hosts.ImportsService(*service)) return true;
    std::vector<model::NamespacedHost> aliases = hosts.ImportedAliases(*service);
    if (listener.match_port) service = variants_->WithPort(service, listener.spec->port().number());
    if (service != nullptr) service = variants_->WithAliases(service, std::move(aliases));
    return service == nullptr;
  });
  KeepOneNamespacePerHost(scope_->ns, &imported);
  return imported;
}

std::vector<VirtualServicePtr> Builder::ImportVirtualServices(const EgressHosts& hosts) const {
  const auto from = hosts.Namespaces();
  std::vector<VirtualServicePtr> imported =
      from ? reads_->VisibleVirtualServices(*from) : reads_->VisibleVirtualServices();
  absl::flat_hash_set<const VirtualService*> known;
  std::erase_if(imported, [&](const VirtualServicePtr& candidate) {
    return !hosts.ImportsVirtualService(*candidate) || !known.insert(candidate.get()).second;
  });
  return imported;
}

bool Builder::Follows(const RouteDestination& destination) const {
  const auto& sources = destination.source_namespaces;
  return sources.empty() || std::find(sources.begin(), sources.end(), scope_->ns.str()) != sources.end();
}

void Builder::AddDestinations(const EgressListener& listener) {
  std::vector<uint32_t> ports;
  for (const VirtualServicePtr& virtual_service : listener.virtual_services) {
    const std::vector<RouteDestination>& all = virtual_service->destinations;
    for (auto first = all.begin(); first != all.end();) {
      ports.clear();
      auto next = first;
      for (; next != all.end() && next->host == first->host; ++next) {
        if (Follows(*next)) ports.push_back(next->port);
      }
      if (!ports.empty()) AddDestination(first->host, ports, listener);
      first = next;
    }
  }
}

void Builder::AddDestination(const std::string& host, std::span<const uint32_t> ports,
                             const EgressListener& listener) {
  ServicePtr service = reads_->Destination(host);
  if (service == nullptr) return;
  if (listener.match_port) {
    service = variants_->WithPort(service, listener.spec->port().number());
  } else if (std::find(ports.begin(), ports.end(), 0u) == ports.end()) {
    service = variants_->WithPorts(service, ports);
  }
  if (service != nullptr) union_.Add(service);
}

void Builder::SelectDestinationRules() {
  for (const ServicePtr& service : scope_->services) {
    std::vector<DestinationRulePtr> rules = reads_->Rules(*service);
    if (!rules.empty()) scope_->destination_rules.emplace(service->hostname, std::move(rules));
  }
}

void Builder::ListNamespaces() {
  constexpr size_t kFew = 8;
  absl::flat_hash_set<Interned> namespaces;
  const auto add = [&namespaces](const std::vector<ServicePtr>& services) {
    for (const ServicePtr& service : services) {
      if (namespaces.size() <= kFew) namespaces.insert(service->ns);
    }
  };
  add(scope_->services);
  for (const EgressListener& listener : scope_->egress) add(listener.services);
  if (namespaces.size() > kFew) return;
  scope_->service_namespaces.assign(namespaces.begin(), namespaces.end());
  std::sort(scope_->service_namespaces.begin(), scope_->service_namespaces.end());
}

}  // namespace

std::shared_ptr<SidecarScope> BuildSidecarScope(const ConfigPtr& sidecar, std::string_view ns,
                                                ScopeReads* reads, ServiceVariants* variants) {
  return Builder(ns, reads, variants).BuildForSidecar(sidecar);
}

std::shared_ptr<SidecarScope> BuildRouterScope(std::string_view ns, ScopeReads* reads,
                                               ServiceVariants* variants) {
  return Builder(ns, reads, variants).BuildForRouter();
}

}  // namespace fairlead::mesh
