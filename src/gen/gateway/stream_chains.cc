#include <algorithm>

#include "base/strings.h"
#include "config/derived_object.h"
#include "gen/gateway/collect_listeners.h"
#include "gen/hosts/server_hosts.h"
#include "gen/listener/tcp_forward.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "istio/networking/v1alpha3/gateway.pb.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"
#include "model/host_name.h"
#include "model/protocol.h"

namespace fairlead::gen::gateway {
namespace {

namespace api = istio::networking::v1alpha3;
using listener::ForwardRequest;
using listener::TcpForward;
using Tls = api::ServerTLSSettings;

bool PassesThrough(const api::Server& server) {
  return server.has_tls() &&
         (server.tls().mode() == Tls::PASSTHROUGH || server.tls().mode() == Tls::AUTO_PASSTHROUGH);
}

// What of a TLS or L4 match is known here. Source: Istio's l4SingleMatch.
template <typename Match>
bool Applies(const Match& match, const mesh::GatewayServer& server) {
  if (match.port() != 0 && match.port() != server.spec().port().number()) return false;
  const auto& gateways = match.gateways();
  return gateways.empty() ||
         std::any_of(gateways.begin(), gateways.end(),
                     [&server](const std::string& gateway) { return server.name == gateway; });
}

bool Applies(const api::TCPRoute& route, const mesh::GatewayServer& server) {
  return route.match().empty() ||
         std::any_of(route.match().begin(), route.match().end(),
                     [&server](const auto& match) { return Applies(match, server); });
}

// TLS routes of a TLSRoute of the Gateway API count where TLS is terminated, too.
bool IsTlsRoute(const mesh::VirtualService& virtual_service) {
  return LabelOr(virtual_service.object->meta().annotations, config::kParentsAnnotation)
      .starts_with("TLSRoute/");
}

class Collector {
 public:
  Collector(mesh::View& view, const listener::ProxyTraits& traits, const mesh::GatewayServerPtr& server,
            uint32_t port, TakenHosts* taken)
      : request_{view, traits, {}}, server_(server), taken_((*taken)[port]) {
    const auto& of_server = server->spec().port();
    request_.port = {of_server.number(), model::ParseProtocol(of_server.protocol()), of_server.name()};
  }

  std::vector<GatewayChain> Collect() {
    if (!PassesThrough(server_->spec())) return Terminated();
    return server_->spec().tls().mode() == Tls::AUTO_PASSTHROUGH ? PassedByCluster() : PassedByRoutes();
  }

 private:
  std::vector<mesh::VirtualServicePtr> VirtualServices() {
    std::vector<mesh::VirtualServicePtr> all = request_.view.VirtualServicesFor(server_->name);
    std::erase_if(all, [&](const auto& virtual_service) { return !TakesAHost(*server_, *virtual_service); });
    return all;
  }

  // One chain, which leads where the first route says.
  std::vector<GatewayChain> Terminated() {
    std::vector<GatewayChain> chains;
    const auto forward = FirstForward();
    if (!forward) return chains;
    GatewayChain& chain = chains.emplace_back();
    chain.forward = *forward;
    if (!server_->tls) return chains;
    chain.sni_hosts = server_->sni_hosts;
    chain.termination = TerminationOf(request_.view, server_);
    chain.exchange_metadata = server_->spec().tls().mode() == Tls::ISTIO_MUTUAL;
    return chains;
  }

  std::optional<TcpForward> FirstForward() {
    for (const mesh::VirtualServicePtr& virtual_service : VirtualServices()) {
      for (const api::TCPRoute& route : virtual_service->spec->tcp()) {
        if (Applies(route, *server_) && !route.route().empty())
          return ForwardByRoute(request_, route.route(), *virtual_service);
      }
      if (!IsTlsRoute(*virtual_service)) continue;
      for (const api::TLSRoute& route : virtual_service->spec->tls()) {
        for (const api::TLSMatchAttributes& match : route.match()) {
          if (Applies(match, *server_) && !route.route().empty())
            return ForwardByRoute(request_, route.route(), *virtual_service);
        }
      }
    }
    return std::nullopt;
  }

  std::vector<GatewayChain> PassedByRoutes() {
    std::vector<GatewayChain> chains;
    for (const mesh::VirtualServicePtr& virtual_service : VirtualServices()) {
      for (const api::TLSRoute& route : virtual_service->spec->tls()) {
        if (route.route().empty()) continue;
        for (const api::TLSMatchAttributes& match : route.match()) {
          if (!Applies(match, *server_) || !Take(match)) continue;
          auto forward = ForwardByRoute(request_, route.route(), *virtual_service);
          if (!forward) continue;
          GatewayChain& chain = chains.emplace_back();
          chain.sni_hosts.assign(match.sni_hosts().begin(), match.sni_hosts().end());
          chain.forward = *std::move(forward);
        }
      }
    }
    return chains;
  }

  // Envoy refuses two chains with one match.
  bool Take(const api::TLSMatchAttributes& match) {
    const std::string& bind = server_->spec().bind();
    for (const std::string& host : match.sni_hosts()) {
      const auto found = taken_.find(host);
      if (found != taken_.end() && found->second == bind) return false;
    }
    for (const std::string& host : match.sni_hosts()) taken_[host] = bind;
    return true;
  }

  // One chain for each cluster that connections of the mesh may name.
  std::vector<GatewayChain> PassedByCluster() {
    std::vector<GatewayChain> chains;
    for (const model::ServicePtr& service : request_.view.imports().services) {
      if (service->mesh_external || !IsExposed(*service)) continue;
      for (const model::ServicePort& port : service->ports) {
        if (port.protocol == model::Protocol::kUdp) continue;
        AddCluster(*service, port, "", &chains);
        const mesh::DestinationRulePtr rule = request_.view.Rule(service->hostname);
        if (rule == nullptr) continue;
        for (const api::Subset& subset : rule->spec->subsets())
          AddCluster(*service, port, subset.name(), &chains);
      }
    }
    return chains;
  }

  bool IsExposed(const model::Service& service) const {
    return std::any_of(server_->sni_hosts.begin(), server_->sni_hosts.end(), [&](const std::string& host) {
      return model::HostSubsetOf(service.hostname.str(), host);
    });
  }

  void AddCluster(const model::Service& service, const model::ServicePort& port, const std::string& subset,
                  std::vector<GatewayChain>* out) {
    TcpForward forward = ForwardBySni(request_, service, port, subset);
    GatewayChain& chain = out->emplace_back();
    chain.sni_hosts = {forward.clusters.front().name};
    chain.mesh_tls = true;
    chain.forward = std::move(forward);
  }

  ForwardRequest request_;
  const mesh::GatewayServerPtr& server_;
  StringMap<std::string>& taken_;
};

}  // namespace

std::vector<GatewayChain> CollectStreamChains(mesh::View& view, const listener::ProxyTraits& traits,
                                              const mesh::GatewayServerPtr& server, uint32_t port,
                                              TakenHosts* taken) {
  return Collector(view, traits, server, port, taken).Collect();
}

}  // namespace fairlead::gen::gateway
