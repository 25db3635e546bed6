#include "mesh/index/merged_gateway.h"

#include <algorithm>
#include <compare>
#include <map>
#include <set>
#include <utility>

#include "base/strings.h"
#include "config/derived_object.h"
#include "config/protocol.h"
#include "istio/networking/v1alpha3/gateway.pb.h"

namespace fairlead::mesh {
namespace {

namespace api = istio::networking::v1alpha3;
using config::Protocol;
using TlsMode = api::ServerTLSSettings;

bool PassesThrough(const api::Server& server) {
  return server.has_tls() &&
         (server.tls().mode() == TlsMode::PASSTHROUGH || server.tls().mode() == TlsMode::AUTO_PASSTHROUGH);
}

// HTTP with TLS settings is a redirect to HTTPS, and plaintext.
bool IsTlsServer(const api::Server& server, Protocol protocol) {
  return server.has_tls() && !config::IsHttp(protocol);
}

bool TerminatesHttps(const api::Server& server, Protocol protocol) {
  return protocol == Protocol::kHttps && !PassesThrough(server);
}

bool IsHttpServer(const api::Server& server, Protocol protocol) {
  return config::IsHttp(protocol) || TerminatesHttps(server, protocol);
}

bool CanShare(Protocol protocol, Protocol current) {
  return (config::IsHttp(protocol) || protocol == current) && config::IsHttp(current);
}

// "./host" is for the Gateway's own namespace, "*/host" for all.
std::vector<std::string> ResolveHosts(const api::Server& server, std::string_view ns) {
  std::vector<std::string> hosts;
  for (const std::string& host : server.hosts()) {
    const size_t slash = host.find('/');
    const std::string_view of = std::string_view(host).substr(0, slash == std::string::npos ? 0 : slash);
    const std::string_view name = std::string_view(host).substr(slash == std::string::npos ? 0 : slash + 1);
    if (of == "*" && name == "*") return {"*"};
    if (of == ".") {
      hosts.push_back(StrCat(ns, "/", name));
    } else if (of == "*") {
      hosts.emplace_back(name);
    } else {
      hosts.push_back(host);
    }
  }
  return hosts;
}

std::vector<std::string> SniHosts(const std::vector<std::string>& hosts) {
  std::set<std::string> names;
  for (const std::string& host : hosts) names.insert(host.substr(host.find('/') + 1));
  return {names.begin(), names.end()};
}

// In Istio's own Gateways the protocol UDP is one of connections, as in Istio.
bool TakesDatagrams(const config::ConfigObject& gateway, Protocol protocol) {
  return protocol == Protocol::kUdp &&
         LabelOr(gateway.meta().annotations, config::kGatewaySemanticsAnnotation) ==
             config::kGatewaySemantics;
}

// The ports that a server's port number stands for; of UDP those of UDP.
std::vector<uint32_t> ResolvePorts(uint32_t number, bool udp, const SelectedGateway& gateway) {
  std::set<uint32_t> ports;
  for (const GatewayTarget& target : gateway.targets) {
    if (udp && !target.udp) continue;
    if (target.port != number || (target.untranslated && !gateway.by_service)) continue;
    if (!gateway.by_service) return {target.target_port};
    ports.insert(target.target_port);
  }
  if (!gateway.by_service) return {number};
  return {ports.begin(), ports.end()};
}

bool SameServers(const std::vector<GatewayServerPtr>& a, const std::vector<GatewayServerPtr>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const GatewayServerPtr& x, const GatewayServerPtr& y) { return *x == *y; });
}

// What tells the servers of a port apart.
struct PortKey {
  uint32_t number = 0;
  std::string protocol, bind;
  bool udp = false;  // takes datagrams
  auto operator<=>(const PortKey&) const = default;
};

class Merger {
 public:
  explicit Merger(const GatewayMergeOptions& options) : options_(options) {}

  void Add(const SelectedGateway& gateway) {
    const Interned name = StrCat(gateway.object->ns().str(), "/", gateway.object->name().str());
    const auto& servers = gateway.object->Spec<api::Gateway>().servers();
    for (int i = 0; i < servers.size(); ++i) {
      if (!servers[i].has_port()) continue;
      names_.insert(name);
      GatewayServer server;
      server.gateway = gateway.object;
      server.index = i;
      server.name = name;
      server.tls = servers[i].has_tls();
      const Protocol protocol = config::ParseProtocol(servers[i].port().protocol());
      server.terminates_https = server.tls && TerminatesHttps(servers[i], protocol);
      server.udp = TakesDatagrams(*gateway.object, protocol);
      server.hosts = ResolveHosts(servers[i], gateway.object->ns());
      if (server.tls) server.sni_hosts = SniHosts(server.hosts);
      all_.push_back(std::make_shared<const GatewayServer>(server));
      for (const uint32_t port : ResolvePorts(servers[i].port().number(), server.udp, gateway)) {
        server.route_name = RouteName(servers[i], protocol, port, *gateway.object);
        Place(gateway, std::make_shared<const GatewayServer>(server), protocol, port);
      }
    }
  }

  MergedGateway Take(const MergedGateway* like) {
    MergedGateway merged;
    YieldToDatagrams();
    std::vector<GatewayPort> ports;
    ports.reserve(order_.size());
    for (const PortKey& key : order_) ports.push_back(std::move(ports_[key]));
    if (passes_through_)
      merged.auto_passthrough_hosts =
          Keep(PassthroughHosts(ports), like, &MergedGateway::auto_passthrough_hosts);
    merged.ports = Keep(std::move(ports), like, &MergedGateway::ports);
    for (auto& [name, route] : routes_) {
      route.http3 = http3_.contains(name);
      merged.routes.emplace(Interned(name), KeepRoute(name, std::move(route), like));
    }
    merged.names = Keep(std::vector<Interned>(names_.begin(), names_.end()), like, &MergedGateway::names);
    merged.servers = like != nullptr && SameServers(*like->servers, all_)
                         ? like->servers
                         : std::make_shared<const std::vector<GatewayServerPtr>>(std::move(all_));
    return merged;
  }

 private:
  static std::string RouteName(const api::Server& server, Protocol protocol, uint32_t port,
                               const config::ConfigObject& gateway) {
    const std::string bind = server.bind().empty() ? "" : StrCat(".", server.bind());
    if (config::IsHttp(protocol)) return StrCat("http.", port, bind);
    if (!TerminatesHttps(server, protocol)) return "";
    return StrCat("https.", server.port().number(), ".", server.port().name(), ".", gateway.name().str(), ".",
                  gateway.ns().str(), bind);
  }

  // Puts the server where it is to be served, or drops it.
  void Place(const SelectedGateway& gateway, const GatewayServerPtr& server, Protocol protocol,
             uint32_t port) {
    const api::Server& spec = server->spec();
    if (server->udp)
      return PortOf({port, spec.port().protocol(), spec.bind(), true}).servers.push_back(server);
    if (server->tls && !ClaimHosts(*server, port)) return;
    passes_through_ |= server->tls && spec.tls().mode() == TlsMode::AUTO_PASSTHROUGH;
    const PortKey key{port, spec.port().protocol(), spec.bind(), false};
    const bool quic = options_.quic && server->terminates_https && HasUdp(gateway, spec.port().number());
    const auto plain = plain_.find(port);
    if (taken_.insert(port).second) {
      AddFirst(key, server, protocol);
    } else if (plain != plain_.end()) {
      if (!AddBesidePlain(key, server, protocol, plain->second)) return;
    } else if (!IsTlsServer(spec, protocol)) {
      return AddFirst(key, server, protocol);
    } else if (!AddTls(key, server, protocol)) {
      return;
    }
    if (!quic) return;
    ports_[key].quic_servers.push_back(server);
    http3_.insert(server->route_name);
  }

  // Envoy refuses two chains with one match. Servers with addresses of their own have listeners of their own.
  bool ClaimHosts(const GatewayServer& server, uint32_t port) {
    auto& known = tls_hosts_[port];
    const std::string& bind = server.spec().bind();
    for (const std::string& host : server.hosts) {
      const auto found = known.find(host);
      if (found != known.end() && found->second == bind) return false;
    }
    for (const std::string& host : server.hosts) known[host] = bind;
    return true;
  }

  static bool HasUdp(const SelectedGateway& gateway, uint32_t port) {
    return std::any_of(gateway.targets.begin(), gateway.targets.end(),
                       [port](const GatewayTarget& target) { return target.udp && target.port == port; });
  }

  // A port of UDP takes one listener: a UDP server's comes before HTTP/3's.
  void YieldToDatagrams() {
    for (const PortKey& key : order_) {
      if (!ports_[key].udp()) continue;
      for (auto& [other, port] : ports_) {
        if (other.number != key.number || other.bind != key.bind) continue;
        for (const GatewayServerPtr& server : port.quic_servers) http3_.erase(server->route_name);
        port.quic_servers.clear();
      }
    }
  }

  void AddFirst(const PortKey& key, const GatewayServerPtr& server, Protocol protocol) {
    if (!IsTlsServer(server->spec(), protocol)) plain_[key.number] = key;
    if (IsHttpServer(server->spec(), protocol)) routes_[server->route_name].servers = {server};
    GatewayPort& port = PortOf(key);
    port.route_name = server->route_name;
    port.servers = {server};
  }

  // The port has a plaintext server. HTTP joins HTTP; on another address anything may be.
  bool AddBesidePlain(const PortKey& key, const GatewayServerPtr& server, Protocol protocol,
                      const PortKey& current) {
    if (current.bind == key.bind) {
      if (!CanShare(protocol, config::ParseProtocol(current.protocol)) || server->route_name.empty())
        return false;
      PortOf(current).servers.push_back(server);
      routes_[server->route_name].servers.push_back(server);
      return true;
    }
    if (!ports_.contains(key)) {
      AddFirst(key, server, protocol);
      return true;
    }
    GatewayPort& port = PortOf(key);
    port.route_name = server->route_name;
    port.servers.push_back(server);
    if (!server->route_name.empty()) routes_[server->route_name].servers.push_back(server);
    return true;
  }

  // The port has TLS servers; each has a chain of its own, found by SNI.
  bool AddTls(const PortKey& key, const GatewayServerPtr& server, Protocol protocol) {
    if (IsHttpServer(server->spec(), protocol)) {
      const auto [route, is_new] = routes_.try_emplace(server->route_name);
      if (!is_new) return false;
      route->second.servers = {server};
    }
    PortOf(key).servers.push_back(server);
    return true;
  }

  GatewayPort& PortOf(const PortKey& key) {
    const auto [port, is_new] = ports_.try_emplace(key);
    if (is_new) {
      order_.push_back(key);
      port->second.number = key.number;
      port->second.protocol = key.protocol;
      port->second.bind = key.bind;
    }
    return port->second;
  }

  static std::vector<std::string> PassthroughHosts(const std::vector<GatewayPort>& ports) {
    std::set<std::string> hosts;
    for (const GatewayPort& port : ports) {
      for (const GatewayServerPtr& server : port.servers) {
        if (server->spec().tls().mode() == TlsMode::AUTO_PASSTHROUGH)
          hosts.insert(server->hosts.begin(), server->hosts.end());
      }
    }
    return {hosts.begin(), hosts.end()};
  }

  template <typename Value>
  static std::shared_ptr<const Value> Keep(Value value, const MergedGateway* like,
                                           std::shared_ptr<const Value> MergedGateway::*part) {
    if (like != nullptr && like->*part != nullptr && *(like->*part) == value) return like->*part;
    return std::make_shared<const Value>(std::move(value));
  }
  static GatewayRoutePtr KeepRoute(const std::string& name, GatewayRoute route, const MergedGateway* like) {
    if (like != nullptr) {
      const auto known = like->routes.find(Interned(name));
      if (known != like->routes.end() && *known->second == route) return known->second;
    }
    return std::make_shared<const GatewayRoute>(std::move(route));
  }

  const GatewayMergeOptions options_;
  std::set<Interned> names_;
  std::vector<GatewayServerPtr> all_;
  std::set<uint32_t> taken_;                              // port numbers
  std::map<uint32_t, PortKey> plain_;                     // the plaintext port that was added last
  std::map<uint32_t, StringMap<std::string>> tls_hosts_;  // by port and host: the address
  std::map<PortKey, GatewayPort> ports_;
  std::vector<PortKey> order_;  // of ports_
  std::map<std::string, GatewayRoute> routes_;
  std::set<std::string> http3_;  // names of routes
  bool passes_through_ = false;
};

template <typename Value>
bool SameValue(const std::shared_ptr<const Value>& a, const std::shared_ptr<const Value>& b) {
  return a == b || (a != nullptr && b != nullptr && *a == *b);
}

}  // namespace

const api::Server& GatewayServer::spec() const { return gateway->Spec<api::Gateway>().servers(index); }

bool operator==(const GatewayPort& a, const GatewayPort& b) {
  return a.number == b.number && a.protocol == b.protocol && a.bind == b.bind &&
         a.route_name == b.route_name && SameServers(a.servers, b.servers) &&
         SameServers(a.quic_servers, b.quic_servers);
}

bool operator==(const GatewayRoute& a, const GatewayRoute& b) {
  return a.http3 == b.http3 && SameServers(a.servers, b.servers);
}

bool operator==(const MergedGateway& a, const MergedGateway& b) {
  if (a.routes.size() != b.routes.size()) return false;
  for (const auto& [name, route] : a.routes) {
    const auto other = b.routes.find(name);
    if (other == b.routes.end() || !(*other->second == *route)) return false;
  }
  return *a.ports == *b.ports && *a.names == *b.names && SameServers(*a.servers, *b.servers) &&
         SameValue(a.auto_passthrough_hosts, b.auto_passthrough_hosts);
}

MergedGateway MergeGateways(const std::vector<SelectedGateway>& gateways, const GatewayMergeOptions& options,
                            const MergedGateway* like) {
  Merger merger(options);
  for (const SelectedGateway& gateway : gateways) merger.Add(gateway);
  return merger.Take(like);
}

}  // namespace fairlead::mesh
