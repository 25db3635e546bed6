#include "mesh/view/scope_builder.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/networking/v1alpha3/sidecar.pb.h"
#include "mesh/index/service_index_builder.h"
#include "mesh/view/egress_hosts.h"
#include "mesh/view/scope_services.h"

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

// Whether a virtual service routes what is not HTTP: such routes are part of listeners.
bool HasStreamRoutes(const VirtualServicePtr& virtual_service) {
  return virtual_service->spec->tls_size() + virtual_service->spec->tcp_size() > 0;
}

using VirtualServices = std::vector<VirtualServicePtr>;

class Builder {
 public:
  Builder(std::string_view ns, VisibleMesh* visible, ServiceVariants* variants)
      : visible_(visible),
        variants_(variants),
        imports_(std::make_shared<ScopeImports>()),
        union_(imports_.get(), variants) {
    imports_->ns = ns;
  }

  SidecarScope BuildForSidecar(const ConfigPtr& sidecar);
  SidecarScope BuildForRouter();

 private:
  void AddListener(const EgressHosts& hosts, const api::IstioEgressListener* spec);
  std::vector<ServicePtr> Candidates(const EgressHosts& hosts) const;
  std::vector<ServicePtr> Import(const EgressHosts& hosts, const EgressListener& listener) const;
  VirtualServices ImportVirtualServices(const EgressHosts& hosts) const;
  void AddDestinations(const EgressListener& listener, const VirtualServices& virtual_services);
  void AddDestination(const std::string& host, std::span<const uint32_t> ports,
                      const EgressListener& listener);
  bool Follows(const RouteDestination& destination) const;
  void SelectDestinationRules();

  VisibleMesh* visible_;
  ServiceVariants* variants_;
  std::shared_ptr<ScopeImports> imports_;
  std::vector<VirtualServices> virtual_services_;  // by egress listener
  ScopeServices union_;
};

SidecarScope Builder::BuildForSidecar(const ConfigPtr& sidecar) {
  static const auto* everything = new std::vector<std::string>{"*/*"};
  imports_->object = sidecar;
  imports_->sidecar = sidecar == nullptr ? nullptr : &sidecar->Spec<api::Sidecar>();
  if (imports_->sidecar == nullptr || imports_->sidecar->egress().empty()) {
    AddListener(EgressHosts(*everything, imports_->ns), nullptr);
  } else {
    for (const api::IstioEgressListener& spec : imports_->sidecar->egress())
      AddListener(EgressHosts(spec.hosts(), imports_->ns), &spec);
  }
  size_t expected = 0;
  for (const EgressListener& listener : imports_->egress) expected += listener.services.size();
  union_.Reserve(expected);
  for (size_t i = 0; i < imports_->egress.size(); ++i) {
    // What is asked for by name goes before what routes lead to.
    for (const ServicePtr& service : imports_->egress[i].services) union_.Add(service);
    AddDestinations(imports_->egress[i], virtual_services_[i]);
  }
  imports_->outbound_traffic_policy = OutboundPolicy(visible_->settings(), sidecar);
  SelectDestinationRules();
  return {std::move(imports_), std::move(virtual_services_)};
}

SidecarScope Builder::BuildForRouter() {
  const std::vector<ServicePtr> visible = visible_->Services();
  union_.Reserve(visible.size());
  for (const ServicePtr& service : visible) union_.Add(service);
  imports_->egress.emplace_back();
  virtual_services_.push_back(visible_->CompetingVirtualServices());
  SelectDestinationRules();
  return {std::move(imports_), std::move(virtual_services_)};
}

void Builder::AddListener(const EgressHosts& hosts, const api::IstioEgressListener* spec) {
  EgressListener& listener = imports_->egress.emplace_back();
  listener.spec = spec;
  listener.match_port = spec != nullptr && NeedsPortMatch(*spec);
  listener.services = Import(hosts, listener);
  const VirtualServices& all = virtual_services_.emplace_back(ImportVirtualServices(hosts));
  std::copy_if(all.begin(), all.end(), std::back_inserter(listener.stream_routes), HasStreamRoutes);
}

// All services that the hosts could mean: found one by one where each host names just one.
std::vector<ServicePtr> Builder::Candidates(const EgressHosts& hosts) const {
  if (!hosts.all_exact()) {
    const auto from = hosts.Namespaces();
    return from ? visible_->Services(*from) : visible_->Services();
  }
  std::vector<ServicePtr> candidates;
  for (const auto& [ns, patterns] : hosts.by_namespace()) {
    for (const std::string& hostname : patterns.exact()) {
      ServicePtr service = visible_->FindService(hostname, ns);
      if (service != nullptr && service->visibility.VisibleIn(imports_->ns))
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
  KeepOneNamespacePerHost(imports_->ns, &imported);
  return imported;
}

VirtualServices Builder::ImportVirtualServices(const EgressHosts& hosts) const {
  const auto from = hosts.Namespaces();
  VirtualServices imported = from ? visible_->VirtualServices(*from) : visible_->VirtualServices();
  absl::flat_hash_set<const VirtualService*> known;
  std::erase_if(imported, [&](const VirtualServicePtr& candidate) {
    return !hosts.ImportsVirtualService(*candidate) || !known.insert(candidate.get()).second;
  });
  return imported;
}

bool Builder::Follows(const RouteDestination& destination) const {
  const auto& sources = destination.source_namespaces;
  return sources.empty() || std::find(sources.begin(), sources.end(), imports_->ns.str()) != sources.end();
}

void Builder::AddDestinations(const EgressListener& listener, const VirtualServices& virtual_services) {
  std::vector<uint32_t> ports;
  for (const VirtualServicePtr& virtual_service : virtual_services) {
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
  ServicePtr service = visible_->Destination(host);
  if (service == nullptr) return;
  if (listener.match_port) {
    service = variants_->WithPort(service, listener.spec->port().number());
  } else if (std::find(ports.begin(), ports.end(), 0u) == ports.end()) {
    service = variants_->WithPorts(service, ports);
  }
  if (service != nullptr) union_.Add(service);
}

void Builder::SelectDestinationRules() {
  for (const ServicePtr& service : imports_->services) {
    std::vector<DestinationRulePtr> rules = visible_->Rules(*service);
    if (!rules.empty()) imports_->destination_rules.emplace(service->hostname, std::move(rules));
  }
}

}  // namespace

SidecarScope BuildSidecarScope(const ConfigPtr& sidecar, std::string_view ns, VisibleMesh* visible,
                               ServiceVariants* variants) {
  return Builder(ns, visible, variants).BuildForSidecar(sidecar);
}

SidecarScope BuildRouterScope(std::string_view ns, VisibleMesh* visible, ServiceVariants* variants) {
  return Builder(ns, visible, variants).BuildForRouter();
}

}  // namespace fairlead::mesh
