#include <algorithm>

#include "base/ip_address.h"
#include "config/check/http_route.h"
#include "config/check/kinds.h"
#include "config/check/parts.h"
#include "config/derived_object.h"

namespace fairlead::config::check {
namespace {

// Istio takes a service without gateways for one of gateways where TLS hosts are looked at.
bool HasNoMesh(const net::VirtualService& service) {
  return std::find(service.gateways().begin(), service.gateways().end(), "mesh") == service.gateways().end();
}
bool IsForGateways(const net::VirtualService& service) {
  return service.gateways_size() > 0 && HasNoMesh(service);
}

bool HasSniHosts(const net::VirtualService& service) {
  for (const net::TLSRoute& route : service.tls()) {
    for (const net::TLSMatchAttributes& match : route.match()) {
      if (match.sni_hosts_size() > 0) return true;
    }
  }
  return false;
}

void CheckHosts(const net::VirtualService& service, const Spot& at) {
  const bool gateways = IsForGateways(service);
  const bool sni = HasSniHosts(service);
  bool good = true;
  for (int i = 0; i < service.hosts_size(); ++i) {
    const std::string& host = service.hosts(i);
    std::string why = gateways ? GatewayDomainProblem(sni, host) : WildcardDomainProblem(host);
    if (!why.empty() && IsIpAddress(host)) why.clear();
    if (why.empty() && !gateways && host == "*") why = "\"*\" is only for virtual services of gateways";
    good = good && why.empty();
    Spot(at, static_cast<size_t>(i)).Refuse(std::move(why));
  }
  if (!good) return;
  for (int i = 0; i < service.hosts_size(); ++i) {
    for (int j = i + 1; j < service.hosts_size(); ++j) {
      if (HostsMatch(service.hosts(i), service.hosts(j)))
        Spot(at, static_cast<size_t>(j))
            .Error("duplicate-item", StrCat("the host overlaps \"", service.hosts(i), "\""));
    }
  }
}

void CheckClaims(const net::VirtualService& service, const Spot& http) {
  for (int i = 0; i < service.http_size(); ++i) {
    const Spot route(http, static_cast<size_t>(i));
    for (const net::HTTPMatchRequest& match : service.http(i).match()) {
      const auto is_claim = [](const auto& header) { return IsClaim(header.first); };
      if (std::any_of(match.headers().begin(), match.headers().end(), is_claim) ||
          std::any_of(match.without_headers().begin(), match.without_headers().end(), is_claim)) {
        route.Field("match").Error("unsupported", "claims of a token are only matched at gateways");
      }
    }
  }
}

void CheckSniHost(const std::string& host, const net::VirtualService& service, const Spot& at) {
  std::string why = HasNoMesh(service) ? GatewayDomainProblem(true, host) : WildcardDomainProblem(host);
  if (!why.empty() && IsIpAddress(host)) return at.Warn("unusual", "few clients send an IP address as SNI");
  if (!why.empty()) return at.Refuse(std::move(why));
  for (const std::string& known : service.hosts()) {
    if (HostSubsetOf(host, known)) return;
  }
  at.Error("conflict", StrCat("\"", host, "\" is in none of the virtual service's hosts"));
}

template <typename Match>
void CheckLevel4Match(const Match& match, Warnings warnings, const Spot& at) {
  const Spot subnets(at, "destinationSubnets");
  for (int i = 0; i < match.destination_subnets_size(); ++i)
    Spot(subnets, static_cast<size_t>(i)).Refuse(IpRangeProblem(match.destination_subnets(i)));
  if (match.port() != 0) at.Field("port").Refuse(PortProblem(match.port()));
  CheckLabels(match.source_labels(), Spot(at, "sourceLabels"));
  CheckGatewayNames(match.gateways(), warnings, false, Spot(at, "gateways"));
}

template <typename Route>
void CheckLevel4Routes(const Route& route, bool gateway_api, const Spot& at) {
  const Spot routes(at, "route");
  if (route.route_size() == 0) routes.Error("missing-field", "this field is required");
  uint32_t total = 0;  // overflows as Istio's does
  for (int i = 0; i < route.route_size(); ++i) {
    const net::RouteDestination& one = route.route(i);
    const Spot here(routes, static_cast<size_t>(i));
    if (!one.has_destination()) here.Field("destination").Error("missing-field", "this field is required");
    if (one.has_destination() && !gateway_api) CheckDestination(one.destination(), Spot(here, "destination"));
    CheckNotNegative(one.weight(), Spot(here, "weight"));
    total += static_cast<uint32_t>(one.weight());
  }
  if (route.route_size() > 1 && total == 0) routes.Error("invalid-value", "the weights sum up to 0");
}

void CheckTlsRoute(const net::TLSRoute& route, const net::VirtualService& service, bool gateway_api,
                   const Spot& at) {
  const Spot matches(at, "match");
  if (route.match_size() == 0) matches.Error("missing-field", "a TLS route has at least one match");
  for (int i = 0; i < route.match_size(); ++i) {
    const Spot here(matches, static_cast<size_t>(i));
    const Spot hosts(here, "sniHosts");
    if (route.match(i).sni_hosts_size() == 0)
      hosts.Error("missing-field", "a match has at least one SNI host");
    for (int j = 0; j < route.match(i).sni_hosts_size(); ++j)
      CheckSniHost(route.match(i).sni_hosts(j), service, Spot(hosts, static_cast<size_t>(j)));
    CheckLevel4Match(route.match(i), Warnings::kKept, here);
  }
  CheckLevel4Routes(route, gateway_api, at);
}

void CheckTcpRoute(const net::TCPRoute& route, bool gateway_api, const Spot& at) {
  const Spot matches(at, "match");
  for (int i = 0; i < route.match_size(); ++i)
    CheckLevel4Match(route.match(i), Warnings::kLost, Spot(matches, static_cast<size_t>(i)));
  CheckLevel4Routes(route, gateway_api, at);
}

void CheckDelegate(const net::VirtualService& service, const Spot& spec) {
  const auto refuse = [&](bool set, std::string_view name) {
    if (set)
      spec.Field(name).Error("conflict",
                             "a virtual service without hosts is a delegate and has no such field");
  };
  refuse(service.gateways_size() > 0, "gateways");
  refuse(service.tls_size() > 0, "tls");
  refuse(service.tcp_size() > 0, "tcp");
}

}  // namespace

void CheckDestination(const net::Destination& destination, const Spot& at) {
  const Spot host(at, "host"), port(at, "port");
  if (destination.host() == "*") {
    host.Refuse("\"*\" is no host to send to");
  } else {
    host.Refuse(WildcardDomainProblem(destination.host()));
  }
  if (!destination.subset().empty()) at.Field("subset").Refuse(SubsetNameProblem(destination.subset()));
  if (destination.has_port()) port.Field("number").Refuse(PortProblem(destination.port().number()));
}

void CheckGatewayNames(const google::protobuf::RepeatedPtrField<std::string>& names, Warnings warnings,
                       bool gateway_api, const Spot& at) {
  for (int i = 0; i < names.size(); ++i) {
    const Spot here(at, static_cast<size_t>(i));
    const std::string_view name = names[i];
    const size_t slash = name.find('/');
    if (slash == std::string_view::npos) {
      if (name.find('.') != std::string_view::npos && warnings == Warnings::kKept)
        here.Warn("deprecated", "write namespace/name instead");
      // Istio looks at none behind one without a namespace.
      return here.Refuse(DomainProblem(name));
    }
    if (!IsDns1123Label(name.substr(0, slash)))
      here.Refuse(StrCat("\"", name.substr(0, slash), "\" is no namespace"));
    const std::string_view gateway = name.substr(slash + 1);
    if (gateway.empty() || (!gateway_api && !IsDns1123Label(gateway)))
      here.Refuse(StrCat("\"", gateway, "\" is no gateway's name"));
  }
}

void CheckVirtualService(const google::protobuf::Message& message, const Spot& spec) {
  const auto& service = static_cast<const net::VirtualService&>(message);
  const auto& annotations = spec.meta().annotations;
  const auto semantics = annotations.find(kRouteSemanticsAnnotation);
  const bool gateway_api = semantics != annotations.end() && semantics->second == kGatewaySemantics;
  const bool delegate = service.hosts_size() == 0;
  if (delegate) CheckDelegate(service, spec);
  CheckGatewayNames(service.gateways(), Warnings::kKept, gateway_api, Spot(spec, "gateways"));
  const Spot http(spec, "http"), tls(spec, "tls"), tcp(spec, "tcp");
  if (!IsForGateways(service)) CheckClaims(service, http);
  CheckHosts(service, Spot(spec, "hosts"));
  if (service.http_size() + service.tls_size() + service.tcp_size() == 0)
    spec.Error("missing-field", "at least one of http, tls and tcp is required");
  for (int i = 0; i < service.http_size(); ++i)
    CheckHttpRoute(service.http(i), delegate, gateway_api, Spot(http, static_cast<size_t>(i)));
  for (int i = 0; i < service.tls_size(); ++i)
    CheckTlsRoute(service.tls(i), service, gateway_api, Spot(tls, static_cast<size_t>(i)));
  for (int i = 0; i < service.tcp_size(); ++i)
    CheckTcpRoute(service.tcp(i), gateway_api, Spot(tcp, static_cast<size_t>(i)));
  CheckExportTo(service.export_to(), ExportOf::kOther, Spot(spec, "exportTo"));
  CheckReachable(service, spec);
}

}  // namespace fairlead::config::check
