#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "gen/cluster/collect.h"
#include "gen/cluster/draft.h"
#include "gen/endpoint/build.h"
#include "gen/endpoint/collect.h"
#include "gen/naming/cluster_name.h"
#include "gen/naming/inference_pool.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "model/host_name.h"

namespace fairlead::gen {
namespace {

// One service on its way to its clusters' inputs.
class ServiceCollector {
 public:
  ServiceCollector(mesh::View& view, const ClusterTraits& traits, bool dns_srv,
                   const model::ServicePtr& service, std::vector<OutboundClusterInputs>* out)
      : view_(view), service_(service), out_(out) {
    base_.service = service;
    base_.dns_srv = dns_srv;
    base_.settings = view.settings(model::SettingsPart::kClusters);
    base_.traits = traits;
    base_.rule = view.Rule(service->hostname);
    endpoints_ = view.TraitsOfEndpoints(service->hostname, service->ns);
    forward_proxy_ =
        service->resolution == model::Resolution::kDynamicDns && model::IsWildcard(service->hostname);
    if (!dns_srv && !forward_proxy_) base_.identities = IdentitiesOf(view, *service, endpoints_);
  }

  // Without TLS, so that nothing of mutual TLS matters.
  void CollectUdp(const std::set<uint32_t>& ports) {
    base_.udp = true;
    base_.identities.clear();
    for (const uint32_t number : ports) {
      const model::ServicePort* port = service_->FindUdpPort(number);
      if (port == nullptr) continue;
      OutboundClusterInputs inputs = base_;
      inputs.port = number;
      if (UsesDns(*service_)) inputs.endpoints = InlineEndpoints(inputs, *port, nullptr);
      out_->push_back(std::move(inputs));
    }
  }

  void Collect() {
    const api::DestinationRule* rule = SpecOf(base_.rule);
    for (const model::ServicePort& port : service_->ports) {
      if (port.protocol == model::Protocol::kUdp || (forward_proxy_ && !Forwardable(port.protocol))) continue;
      if (!base_.dns_srv && &port != &service_->ports.front() && IsInferencePool(*service_)) continue;
      Add(port, nullptr);
      if (forward_proxy_ || rule == nullptr) continue;
      for (const api::Subset& subset : rule->subsets()) Add(port, &subset);
    }
  }

 private:
  // What a dynamic forward proxy can read a host from.
  static bool Forwardable(model::Protocol protocol) {
    return protocol == model::Protocol::kHttp || protocol == model::Protocol::kTls ||
           protocol == model::Protocol::kGrpc || protocol == model::Protocol::kHttp2;
  }

  void Add(const model::ServicePort& port, const api::Subset* subset) {
    OutboundClusterInputs inputs = base_;
    inputs.port = port.port;
    if (subset != nullptr) inputs.subset = subset->name();
    if (!inputs.dns_srv) {
      inputs.auto_mutual_tls =
          MayAssumeMutualTls(port, subset != nullptr ? PolicyOf(subset) : PolicyOf(SpecOf(base_.rule)));
      inputs.all_tunnel = endpoints_.AllTakeTunnels(port);
    }
    if (UsesDns(*service_)) inputs.endpoints = InlineEndpoints(inputs, port, subset);
    out_->push_back(std::move(inputs));
  }

  std::shared_ptr<const EndpointInputs> InlineEndpoints(const OutboundClusterInputs& inputs,
                                                        const model::ServicePort& port,
                                                        const api::Subset* subset) const {
    const std::string& host = service_->hostname.str();
    const std::string name = inputs.dns_srv ? DnsSrvName(port.port, inputs.subset, host)
                             : inputs.udp   ? UdpClusterName(port.port, host)
                                            : OutboundClusterName(port.port, inputs.subset, host);
    auto endpoints = std::make_shared<EndpointInputs>(
        CollectInlineEndpoints(view_, name, service_, port.port, inputs.subset, base_.rule));
    EffectivePolicy policy = PolicyForPort(PolicyOf(SpecOf(base_.rule)), port.port);
    AddMeshDefaults(*base_.settings->mesh, &policy);
    policy = PolicyForSubset(policy, PolicyOf(subset), port.port);
    CollectLocality(policy, view_, endpoints.get());
    return endpoints;
  }

  // Whether clients may speak mutual TLS where no rule says so: not to services outside, not where
  // PeerAuthentication disables it, and to a passthrough service only if none of its endpoints is without a
  // sidecar.
  bool MayAssumeMutualTls(const model::ServicePort& port, const api::TrafficPolicy* policy) const {
    if (service_->mesh_external || !base_.settings->mesh->enable_auto_mtls().value()) return false;
    const bool passthrough =
        service_->resolution == model::Resolution::kPassthrough ||
        (policy != nullptr && policy->load_balancer().simple() == api::LoadBalancerSettings::PASSTHROUGH);
    if (passthrough && !endpoints_.NoneRefusesMutualTls(port)) return false;
    const mesh::MutualTlsMode mode =
        mesh::ForNamespace(view_.mesh_peer_authentication(), view_.peer_authentication(service_->ns));
    return mode != mesh::MutualTlsMode::kDisable;
  }

  mesh::View& view_;
  const model::ServicePtr& service_;
  std::vector<OutboundClusterInputs>* out_;
  OutboundClusterInputs base_;
  mesh::EndpointTraits endpoints_;
  bool forward_proxy_ = false;
};

}  // namespace

std::vector<std::string> IdentitiesOf(mesh::View& view, const model::Service& service,
                                      const mesh::EndpointTraits& endpoints) {
  std::vector<std::string> all = endpoints.identities();
  const model::ServicePtr named = view.NamedService(service.hostname, service.ns);
  const std::vector<std::string>& more = (named == nullptr ? service : *named).service_accounts;
  all.insert(all.end(), more.begin(), more.end());
  constexpr std::string_view kSpiffe = "spiffe://";
  const auto& aliases = view.settings(model::SettingsPart::kClusters)->mesh->trust_domain_aliases();
  for (size_t i = 0, count = all.size(); i < count && !aliases.empty(); ++i) {
    // spiffe://domain/ns/namespace/sa/account
    if (!all[i].starts_with(kSpiffe)) continue;
    const std::vector<std::string_view> parts = Split(std::string_view(all[i]).substr(kSpiffe.size()), '/');
    if (parts.size() != 5 || parts[1] != "ns" || parts[3] != "sa") continue;
    const std::string path = StrCat("/ns/", parts[2], "/sa/", parts[4]);
    for (const std::string& alias : aliases) all.push_back(StrCat(kSpiffe, alias, path));
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::vector<OutboundClusterInputs> CollectOutbound(mesh::View& view, const model::ServicePtr& service,
                                                   const ClusterTraits& traits, bool dns_srv) {
  std::vector<OutboundClusterInputs> all;
  if (service->resolution == model::Resolution::kAlias || (dns_srv && service->mesh_external)) return all;
  ServiceCollector(view, traits, dns_srv, service, &all).Collect();
  return all;
}

std::vector<OutboundClusterInputs> CollectUdpOutbound(mesh::View& view, const UdpPorts& ports,
                                                      const ClusterTraits& traits) {
  std::vector<OutboundClusterInputs> all;
  ServiceCollector(view, traits, /*dns_srv=*/false, ports.service, &all).CollectUdp(ports.ports);
  return all;
}

}  // namespace fairlead::gen
