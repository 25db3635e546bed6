#include <set>

#include "config/check/kinds.h"
#include "config/check/parts.h"
#include "config/derived_object.h"

// Deprecated fields are checked as well.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace fairlead::config::check {
namespace {

bool PassesThrough(const net::Server& server) {
  return server.tls().mode() == net::ServerTLSSettings::PASSTHROUGH ||
         server.tls().mode() == net::ServerTLSSettings::AUTO_PASSTHROUGH;
}

bool CheckPort(const net::Server& server, const Spot& at) {
  const Spot here(at, "port");
  if (!server.has_port()) {
    here.Error("missing-field", "this field is required");
    return false;
  }
  const net::Port& port = server.port();
  bool good = true;
  const auto refuse = [&](std::string_view field, std::string why) {
    good = good && why.empty();
    here.Field(field).Refuse(std::move(why));
  };
  if (ParseProtocol(port.protocol()) == Protocol::kUnsupported)
    refuse("protocol", StrCat("unknown protocol \"", port.protocol(), "\""));
  if (port.number() > 0 || !server.bind().starts_with("unix://"))
    refuse("number", PortProblem(port.number()));
  if (port.target_port() > 0) refuse("targetPort", "this has no meaning in a Gateway");
  if (port.name().empty()) refuse("name", "a port's name is missing");
  return good;
}

void CheckBind(const net::Server& server, const Spot& at) {
  const std::string_view bind = server.bind();
  if (bind.starts_with("unix://")) {
    at.Field("bind").Refuse(SocketPathProblem(bind.substr(7)));
    const Spot port(at, "port");
    if (server.port().number() != 0) port.Field("number").Error("conflict", "a socket's port is 0");
  } else if (!bind.empty()) {
    at.Field("bind").Refuse(IpAddressProblem(bind));
  }
}

// Whether the protocol goes with the TLS settings.
void CheckTlsOfProtocol(const net::Server& server, const Spot& at) {
  const Protocol protocol = ParseProtocol(server.port().protocol());
  const Spot tls(at, "tls");
  if (IsTls(protocol)) {
    if (!server.has_tls()) tls.Error("missing-field", "HTTPS and TLS want TLS settings");
    return;
  }
  if (!server.has_tls()) return;
  if (!IsHttp(protocol)) return tls.Error("conflict", "only HTTPS and TLS have TLS settings");
  const net::ServerTLSSettings& settings = server.tls();
  if (!PassesThrough(server) || !settings.ca_certificates().empty() || !settings.private_key().empty() ||
      !settings.server_certificate().empty()) {
    tls.Error("conflict", "plain HTTP has no TLS settings but httpsRedirect");
  }
}

void CheckServer(const net::Server& server, bool gateway_api, const Spot& at) {
  const Spot hosts(at, "hosts");
  if (server.hosts_size() == 0) hosts.Error("missing-field", "a server has at least one host");
  for (int i = 0; i < server.hosts_size(); ++i)
    Spot(hosts, static_cast<size_t>(i)).Refuse(NamespacedHostProblem(server.hosts(i), true, gateway_api));
  const bool good_port = CheckPort(server, at);
  CheckBind(server, at);
  if (server.has_tls()) CheckServerTls(server.tls(), Spot(at, "tls"));
  if (good_port) CheckTlsOfProtocol(server, at);
}

}  // namespace

void CheckGateway(const google::protobuf::Message& message, const Spot& spec) {
  const auto& gateway = static_cast<const net::Gateway&>(message);
  const auto& annotations = spec.meta().annotations;
  const auto semantics = annotations.find(kGatewaySemanticsAnnotation);
  const bool gateway_api = semantics != annotations.end() && semantics->second == kGatewaySemantics;
  const Spot servers(spec, "servers");
  if (gateway.servers_size() == 0) servers.Error("missing-field", "a gateway has at least one server");
  std::set<std::string_view> names;
  for (int i = 0; i < gateway.servers_size(); ++i) {
    const net::Server& server = gateway.servers(i);
    const Spot here(servers, static_cast<size_t>(i));
    CheckServer(server, gateway_api, here);
    if (!server.has_port()) continue;
    if (!names.insert(server.port().name()).second)
      here.Field("port").Error("duplicate-item", StrCat("another port is \"", server.port().name(), "\""));
    if (server.tls().https_redirect() && !IsHttp(ParseProtocol(server.port().protocol())))
      here.Field("tls").Warn("no-effect", "httpsRedirect is for HTTP servers");
  }
}

}  // namespace fairlead::config::check
