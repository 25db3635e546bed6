#include "gen/listener/outbound_routes.h"

#include <algorithm>

#include "base/strings.h"
#include "gen/listener/tcp_forward.h"
#include "gen/naming/metadata.h"
#include "gen/route/domains.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"
#include "model/host_name.h"
#include "model/service_addresses.h"

namespace fairlead::gen::listener {
namespace {

using istio::networking::v1alpha3::TCPRoute;
using istio::networking::v1alpha3::TLSMatchAttributes;
using istio::networking::v1alpha3::TLSRoute;

constexpr std::string_view kMeshGateway = "mesh";

bool IsFor(const mesh::VirtualService& virtual_service, std::string_view host) {
  for (const std::string& candidate : virtual_service.spec->hosts()) {
    if (model::HostsMatch(candidate, host)) return true;
  }
  return false;
}

// What of a TLS or L4 match is known here; SNI and destination are left to the proxy. Source: Istio's
// matchTLS, matchTCP.
template <typename Match>
bool Applies(const L4Request& request, const Match& match) {
  const auto& gateways = match.gateways();
  if (!gateways.empty() && std::find(gateways.begin(), gateways.end(), kMeshGateway) == gateways.end())
    return false;
  if (match.port() != 0 && match.port() != request.port.number) return false;
  if (!match.source_namespace().empty() && match.source_namespace() != request.view.metadata_namespace())
    return false;
  return request.view.HasLabels(match.source_labels());
}

std::vector<std::string> Strings(const google::protobuf::RepeatedPtrField<std::string>& strings) {
  return {strings.begin(), strings.end()};
}

// Where no address tells connections to the service from others, its names in the client's TLS must.
std::vector<std::string> ServiceSniHosts(const L4Request& request) {
  if (request.endpoint) return {};
  const model::Service& service = request.service;
  std::string_view address = request.address;
  if (address.find('/') != std::string_view::npos) address = {};
  const bool external_ipv6 =
      service.registry == model::Registry::kExternal && request.traits.ipv6 && !request.traits.ipv4;
  if (external_ipv6 && address == model::kUnspecifiedAddress) address = "::";
  const std::string_view wildcard = request.traits.ipv4 ? "0.0.0.0" : "::";
  const bool by_name =
      service.resolution == model::Resolution::kDynamicDns && model::IsWildcard(service.hostname);
  const bool for_all = address == wildcard && request.bind == wildcard;
  if (request.destinations.empty() && !address.empty() && !for_all && !by_name) return {};
  std::vector<std::string> hosts = {service.hostname.str()};
  for (const model::NamespacedHost& alias : service.aliases) {
    hosts.push_back(alias.hostname);
    for (std::string& alternate : route::AlternateHosts(
             alias.hostname, 0, {request.view.domain(), request.traits.settings->features.absolute_names})) {
      hosts.push_back(std::move(alternate));
    }
  }
  return hosts;
}

class TlsChains {
 public:
  explicit TlsChains(const L4Request& request) : request_(request), destinations_(request.destinations) {}

  std::vector<OutboundChain> Collect() {
    for (const mesh::VirtualServicePtr& virtual_service : request_.virtual_services) {
      if (!IsFor(*virtual_service, request_.service.hostname)) continue;
      for (const TLSRoute& route : virtual_service->spec->tls()) {
        if (!route.route().empty()) AddRoute(*virtual_service, route);
      }
    }
    if (chains_.empty()) {
      chains_.push_back({ServiceSniHosts(request_), destinations_, false, "", ForwardToService(request_)});
    }
    return std::move(chains_);
  }

 private:
  void AddRoute(const mesh::VirtualService& virtual_service, const TLSRoute& route) {
    for (const TLSMatchAttributes& match : route.match()) {
      if (!Applies(request_, match)) continue;
      // As in Istio, a match's subnets stay in force for the matches after it.
      if (!match.destination_subnets().empty() && request_.port.number > 0) {
        destinations_ = Strings(match.destination_subnets());
      }
      // A second match that the proxy could not tell from an earlier one would never be reached.
      std::string seen = StrCat(Join(match.sni_hosts(), ","), '|', Join(match.destination_subnets(), ","));
      if (std::find(seen_.begin(), seen_.end(), seen) != seen_.end()) continue;
      seen_.push_back(std::move(seen));
      if (auto forward = ForwardByRoute({request_.view, request_.traits, request_.port}, route.route(),
                                        virtual_service)) {
        chains_.push_back({Strings(match.sni_hosts()), destinations_, false,
                           ConfigPath(*virtual_service.object), std::move(*forward)});
      }
    }
  }

  const L4Request& request_;
  std::vector<std::string> destinations_;
  std::vector<std::string> seen_;
  std::vector<OutboundChain> chains_;
};

class TcpChains {
 public:
  explicit TcpChains(const L4Request& request) : request_(request) {}

  std::vector<OutboundChain> Collect() {
    for (const mesh::VirtualServicePtr& virtual_service : request_.virtual_services) {
      if (!IsFor(*virtual_service, request_.service.hostname)) continue;
      for (const TCPRoute& route : virtual_service->spec->tcp()) {
        if (route.route().empty()) continue;
        if (AddRoute(*virtual_service, route)) return std::move(chains_);
      }
    }
    if (!covered_) chains_.push_back({{}, request_.destinations, false, "", ForwardToService(request_)});
    return std::move(chains_);
  }

 private:
  // True where the route takes every connection, so that no other is of use.
  bool AddRoute(const mesh::VirtualService& virtual_service, const TCPRoute& route) {
    std::vector<std::string> subnets;
    bool everything = route.match().empty();
    for (const auto& match : route.match()) {
      if (!Applies(request_, match)) continue;
      if (match.destination_subnets().empty() || request_.port.number == 0) {
        everything = true;
        break;
      }
      subnets.insert(subnets.end(), match.destination_subnets().begin(), match.destination_subnets().end());
    }
    if (everything) {
      Add(virtual_service, route, request_.destinations, ConfigPath(*virtual_service.object));
      return true;
    }
    if (!subnets.empty()) AddForSubnets(virtual_service, route, std::move(subnets));
    return false;
  }

  void AddForSubnets(const mesh::VirtualService& virtual_service, const TCPRoute& route,
                     std::vector<std::string> subnets) {
    std::sort(subnets.begin(), subnets.end());
    std::vector<std::string> own = request_.destinations;
    std::sort(own.begin(), own.end());
    // The service's own chain would have the same match: Envoy refuses two of them.
    if (subnets == own) covered_ = true;
    Add(virtual_service, route, std::move(subnets), "");
  }

  void Add(const mesh::VirtualService& virtual_service, const TCPRoute& route,
           std::vector<std::string> destinations, std::string config_path) {
    if (auto forward =
            ForwardByRoute({request_.view, request_.traits, request_.port}, route.route(), virtual_service)) {
      chains_.push_back({{}, std::move(destinations), false, std::move(config_path), std::move(*forward)});
    }
  }

  const L4Request& request_;
  bool covered_ = false;
  std::vector<OutboundChain> chains_;
};

}  // namespace

std::vector<OutboundChain> CollectL4Chains(const L4Request& request) {
  if (model::IsTls(request.port.protocol)) return TlsChains(request).Collect();
  return TcpChains(request).Collect();
}

}  // namespace fairlead::gen::listener
