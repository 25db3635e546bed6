#include "mesh/merged_gateway.h"

#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "istio/networking/v1alpha3/gateway.pb.h"
#include "model/protocol.h"

namespace fairlead::mesh {
namespace {

namespace api = istio::networking::v1alpha3;
using model::ParseProtocol;
using model::Protocol;

// Services with this label are only reached by Gateways that name their target ports.
constexpr std::string_view kNoPortTranslation = "experimental.istio.io/disable-gateway-port-translation";

bool IsPassthrough(const api::Server& server) {
  return server.has_tls() && (server.tls().mode() == api::ServerTLSSettings::PASSTHROUGH ||
                              server.tls().mode() == api::ServerTLSSettings::AUTO_PASSTHROUGH);
}

bool IsHttpServer(const api::Server& server) {
  const Protocol protocol = ParseProtocol(server.port().protocol());
  return model::IsHttp(protocol) || (protocol == Protocol::kHttps && !IsPassthrough(server));
}

// TLS settings on a plain HTTP server only ask for a redirect.
bool IsTlsServer(const api::Server& server) {
  return server.has_tls() && !model::IsHttp(ParseProtocol(server.port().protocol()));
}

// The name of the route configuration: HTTP servers of a port share one, each HTTPS server that ends TLS has
// its own.
std::string RouteName(const api::Server& server, uint32_t port, const config::ConfigObject& gateway) {
  const Protocol protocol = ParseProtocol(server.port().protocol());
  const std::string bind = server.bind().empty() ? "" : StrCat(".", server.bind());
  if (model::IsHttp(protocol)) return StrCat("http.", port, bind);
  if (protocol != Protocol::kHttps || IsPassthrough(server)) return "";
  return StrCat("https.", server.port().number(), ".", server.port().name(), ".", gateway.name().str(), ".",
                gateway.ns().str(), bind);
}

// The port number in such a name; 0 where a bind address or dots in names hide it.
uint32_t PortOfRouteName(std::string_view name) {
  uint32_t number = 0;
  const bool https = name.starts_with("https.");
  if (https && std::count(name.begin(), name.end(), '.') != 4) return 0;
  std::string_view digits = name.substr(https ? 6 : 5);
  if (https) digits = digits.substr(0, digits.find('.'));
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size() ? number : 0;
}

std::shared_ptr<const api::Server> QualifyHosts(std::shared_ptr<const api::Server> server,
                                                std::string_view ns) {
  const auto slashed = [](const std::string& host) { return host.find('/') != std::string::npos; };
  if (std::none_of(server->hosts().begin(), server->hosts().end(), slashed)) return server;
  auto qualified = std::make_shared<api::Server>(*server);
  for (std::string& host : *qualified->mutable_hosts()) {
    const size_t slash = host.find('/');
    if (slash == std::string::npos) continue;
    const std::string name = host.substr(slash + 1), host_ns = host.substr(0, slash);
    if (host_ns == "*" && name == "*") {
      qualified->clear_hosts();
      qualified->add_hosts("*");
      break;
    }
    if (host_ns == ".") host = StrCat(ns, "/", name);
    if (host_ns == "*") host = name;
  }
  return qualified;
}

std::vector<std::string> SniHosts(const api::Server& server) {
  std::set<std::string> hosts;
  if (!server.has_tls()) return {};
  for (const std::string& host : server.hosts()) hosts.insert(host.substr(host.find('/') + 1));
  return {hosts.begin(), hosts.end()};
}

// Where the router listens for a port that a Gateway writes.
std::vector<uint32_t> ResolvePort(uint32_t number, const GatewayAttachment& attachment) {
  std::set<uint32_t> ports;
  for (const ServiceTarget& target : attachment.targets) {
    if (attachment.by_labels && target.service->labels.contains(kNoPortTranslation)) continue;
    if (target.port->port != number) continue;
    if (attachment.by_labels) return {target.target_port};
    ports.insert(target.target_port);
  }
  if (ports.empty() && attachment.by_labels) return {number};
  return {ports.begin(), ports.end()};
}

class Merger {
 public:
  void Add(const GatewayAttachment& attachment);
  MergedGateway Finish();

 private:
  void AddServer(const GatewayAttachment& attachment, int position);
  void AddOnPort(const GatewayServerPtr& server, uint32_t port);
  void ShareWithPlain(const GatewayServerPtr& server, const GatewayPort& key);
  void ShareWithTls(const GatewayServerPtr& server, const GatewayPort& key);
  void Start(const GatewayServerPtr& server, GatewayPort port);
  bool TakeTlsHosts(const api::Server& server, uint32_t port);
  GatewayPort* Find(const GatewayPort& key);
  void LeaveOut(const GatewayServer& server, std::string message);

  MergedGateway merged_;
  struct PlainPort {
    std::string protocol, bind;
  };
  std::set<uint32_t> taken_;                                          // ports with a server
  std::map<uint32_t, PlainPort> plain_;                               // the last plaintext port of a number
  std::map<uint32_t, std::map<std::string, std::string>> tls_hosts_;  // host -> bind, by port
};

void Merger::Add(const GatewayAttachment& attachment) {
  const auto& servers = attachment.gateway->Spec<api::Gateway>().servers();
  for (int i = 0; i < servers.size(); ++i) AddServer(attachment, i);
}

void Merger::AddServer(const GatewayAttachment& attachment, int position) {
  const auto gateway = attachment.gateway->SharedSpec<api::Gateway>();
  const std::shared_ptr<const api::Server> written(gateway, &gateway->servers(position));
  if (!written->has_port()) return;
  const config::ConfigObject& object = *attachment.gateway;
  GatewayServer server;
  server.gateway = attachment.gateway;
  server.gateway_name = StrCat(object.ns().str(), "/", object.name().str());
  server.spec = QualifyHosts(written, object.ns());
  server.sni_hosts = SniHosts(*server.spec);
  for (uint32_t port : ResolvePort(written->port().number(), attachment)) {
    server.route_name = RouteName(*server.spec, port, object);
    AddOnPort(std::make_shared<const GatewayServer>(server), port);
  }
}

void Merger::AddOnPort(const GatewayServerPtr& server, uint32_t port) {
  const api::Server& spec = *server->spec;
  if (spec.has_tls() && !TakeTlsHosts(spec, port)) {
    LeaveOut(*server, "another server of the port has one of its hosts");
    return;
  }
  if (spec.has_tls() && spec.tls().mode() == api::ServerTLSSettings::AUTO_PASSTHROUGH)
    merged_.auto_passthrough = true;
  GatewayPort key;
  key.number = port;
  key.protocol = spec.port().protocol();
  key.bind = spec.bind();
  if (taken_.insert(port).second) {
    Start(server, std::move(key));
  } else if (plain_.contains(port)) {
    ShareWithPlain(server, key);
  } else {
    ShareWithTls(server, key);
  }
}

bool Merger::TakeTlsHosts(const api::Server& server, uint32_t port) {
  auto& known = tls_hosts_[port];
  for (const std::string& host : server.hosts()) {
    auto it = known.find(host);
    if (it != known.end() && it->second == server.bind()) return false;
  }
  for (const std::string& host : server.hosts()) known[host] = server.bind();
  return true;
}

// On the same address only HTTP servers share a plaintext port; other addresses have listeners of their own.
void Merger::ShareWithPlain(const GatewayServerPtr& server, const GatewayPort& key) {
  const PlainPort current = plain_[key.number];
  if (current.bind != key.bind) {
    if (GatewayPort* port = Find(key)) {
      port->route_name = server->route_name;
      port->servers.push_back(server);
      merged_.servers_by_route[server->route_name].push_back(server);
    } else {
      Start(server, key);
    }
    return;
  }
  const Protocol protocol = ParseProtocol(key.protocol), other = ParseProtocol(current.protocol);
  if (!(model::IsHttp(protocol) && model::IsHttp(other))) {
    LeaveOut(*server, StrCat("port ", key.number, " serves ", current.protocol, " already"));
    return;
  }
  GatewayPort* port = Find({key.number, current.protocol, current.bind, "", {}});
  port->servers.push_back(server);
  merged_.servers_by_route[server->route_name].push_back(server);
}

// Servers with TLS share a port: the server name tells them apart.
void Merger::ShareWithTls(const GatewayServerPtr& server, const GatewayPort& key) {
  const api::Server& spec = *server->spec;
  if (!IsTlsServer(spec)) {
    Start(server, key);
    return;
  }
  if (IsHttpServer(spec)) {
    if (merged_.servers_by_route.contains(server->route_name)) {
      LeaveOut(*server, "another HTTPS server has the same port name");
      return;
    }
    merged_.servers_by_route[server->route_name] = {server};
  }
  if (GatewayPort* port = Find(key)) {
    port->servers.push_back(server);
    return;
  }
  GatewayPort port = key;
  port.servers.push_back(server);
  merged_.ports.push_back(std::move(port));
}

void Merger::Start(const GatewayServerPtr& server, GatewayPort port) {
  if (!IsTlsServer(*server->spec)) plain_[port.number] = {port.protocol, port.bind};
  if (IsHttpServer(*server->spec)) merged_.servers_by_route[server->route_name] = {server};
  port.route_name = server->route_name;
  port.servers = {server};
  if (GatewayPort* replaced = Find(port)) {
    *replaced = std::move(port);
  } else {
    merged_.ports.push_back(std::move(port));
  }
}

GatewayPort* Merger::Find(const GatewayPort& key) {
  auto it = std::find_if(merged_.ports.begin(), merged_.ports.end(), [&key](const GatewayPort& port) {
    return port.number == key.number && port.protocol == key.protocol && port.bind == key.bind;
  });
  return it == merged_.ports.end() ? nullptr : &*it;
}

void Merger::LeaveOut(const GatewayServer& server, std::string message) {
  merged_.problems.push_back(
      {.severity = config::Severity::kWarning,
       .code = "server-conflict",
       .file = server.gateway->origin().file.str(),
       .line = server.gateway->origin().line,
       .object = config::KeyOf(*server.gateway),
       .path = "spec.servers",
       .message = StrCat("server ", server.spec->port().name(), " is left out: ", message)});
}

MergedGateway Merger::Finish() {
  for (const GatewayPort& port : merged_.ports) {
    for (const GatewayServerPtr& server : port.servers) {
      if (server->spec->tls().mode() != api::ServerTLSSettings::AUTO_PASSTHROUGH) continue;
      merged_.auto_passthrough_hosts.insert(server->spec->hosts().begin(), server->spec->hosts().end());
    }
  }
  for (const auto& [route, servers] : merged_.servers_by_route) {
    std::set<uint32_t>& written = merged_.gateway_ports[PortOfRouteName(route)];
    for (const GatewayServerPtr& server : servers) written.insert(server->spec->port().number());
  }
  return std::move(merged_);
}

}  // namespace

MergedGateway MergeGateways(const std::vector<GatewayAttachment>& attachments) {
  Merger merger;
  for (const GatewayAttachment& attachment : attachments) merger.Add(attachment);
  return merger.Finish();
}

MergedGatewayPtr MergedGatewayCache::Get(const std::vector<GatewayAttachment>& attachments) {
  if (attachments.empty()) return nullptr;
  std::lock_guard lock(mutex_);
  MergedGatewayPtr& merged = merged_[attachments];
  if (merged == nullptr) merged = std::make_shared<const MergedGateway>(MergeGateways(attachments));
  return merged;
}

void MergedGatewayCache::Sweep() {
  std::lock_guard lock(mutex_);
  absl::erase_if(merged_, [](const auto& entry) { return entry.second.use_count() == 1; });
}

}  // namespace fairlead::mesh
