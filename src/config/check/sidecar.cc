#include <map>
#include <set>

#include "config/check/kinds.h"
#include "config/check/parts.h"

// Deprecated fields are checked as well.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace fairlead::config::check {
namespace {

using Tls = net::ServerTLSSettings;

void CheckPort(const net::SidecarPort& port, const Spot& at) {
  if (!port.name().empty()) at.Field("name").Refuse(PortNameProblem(port.name()));
  at.Field("protocol").Refuse(ProtocolProblem(port.protocol()));
  if (port.target_port() > 0) at.Field("targetPort").Error("no-effect", "this has no meaning in a Sidecar");
}

void CheckDefaultEndpoint(std::string_view endpoint, const Spot& at) {
  if (endpoint.empty()) return;
  if (endpoint.starts_with("unix://")) return at.Refuse(SocketPathProblem(endpoint.substr(7)));
  std::string_view host, port;
  if (!SplitHostPort(endpoint, &host, &port)) return at.Refuse(StrCat("\"", endpoint, "\" is not host:port"));
  if (!host.empty() && host != "127.0.0.1" && host != "0.0.0.0" && host != "::1" && host != "::")
    at.Refuse("the host is 127.0.0.1, 0.0.0.0, ::1, :: or none");
  int64_t number = 0;
  if (!ParseGoInteger(port, &number)) return at.Refuse(StrCat("port \"", port, "\" is no number"));
  at.Refuse(PortProblem(number));
}

void CheckIngressTls(const Tls& tls, std::string_view protocol, const Spot& at) {
  const auto refuse = [&](bool set, std::string_view name) {
    if (set) at.Field(name).Error("unsupported", "this is not for a sidecar's ingress");
  };
  refuse(tls.subject_alt_names_size() > 0, "subjectAltNames");
  refuse(tls.https_redirect(), "httpsRedirect");
  refuse(!tls.credential_name().empty(), "credentialName");
  refuse(tls.credential_names_size() > 0, "credentialNames");
  refuse(tls.tls_certificates_size() > 0, "tlsCertificates");
  refuse(tls.mode() == Tls::ISTIO_MUTUAL || tls.mode() == Tls::AUTO_PASSTHROUGH, "mode");
  if (!IsTls(ParseProtocol(protocol))) at.Error("conflict", "only HTTPS and TLS have TLS settings");
  CheckServerTls(tls, at);
}

void CheckIngress(const net::IstioIngressListener& listener, std::set<uint32_t>* ports, const Spot& at) {
  const Spot port(at, "port");
  if (!listener.has_port()) return port.Error("missing-field", "this field is required");
  CheckPort(listener.port(), port);
  port.Field("number").Refuse(PortProblem(listener.port().number()));
  if (!listener.bind().empty()) at.Field("bind").Refuse(IpAddressProblem(listener.bind()));
  if (!ports->insert(listener.port().number()).second)
    port.Field("number").Error("duplicate-item", "another listener has this port");
  CheckDefaultEndpoint(listener.default_endpoint(), Spot(at, "defaultEndpoint"));
  if (listener.has_tls()) CheckIngressTls(listener.tls(), listener.port().protocol(), Spot(at, "tls"));
  const Spot pool(at, "connectionPool");
  if (listener.has_connection_pool()) CheckConnectionPool(listener.connection_pool(), pool);
  if (listener.connection_pool().has_http() && !IsHttp(ParseProtocol(listener.port().protocol())))
    pool.Field("http").Warn("no-effect", "the port's protocol is not HTTP");
}

void CheckEgressPort(const net::IstioEgressListener& listener, const Spot& at) {
  const Spot port(at, "port");
  CheckPort(listener.port(), port);
  const std::string_view bind = listener.bind();
  const Spot bind_at(at, "bind");
  if (listener.port().number() != 0) {
    port.Field("number").Refuse(PortProblem(listener.port().number()));
    if (!bind.empty()) bind_at.Refuse(IpAddressProblem(bind));
    return;
  }
  if (!bind.starts_with("unix://")) {
    bind_at.Error("conflict", "port 0 wants a unix:// address");
  } else {
    bind_at.Refuse(SocketPathProblem(bind.substr(7)));
  }
  if (listener.capture_mode() != net::CaptureMode::DEFAULT &&
      listener.capture_mode() != net::CaptureMode::NONE)
    at.Field("captureMode").Error("conflict", "a socket is not captured");
}

void CheckEgressHosts(const net::IstioEgressListener& listener, const Spot& at) {
  if (listener.hosts_size() == 0) at.Error("missing-field", "a listener has at least one host");
  std::map<std::string, std::set<std::string>> seen;
  for (int i = 0; i < listener.hosts_size(); ++i) {
    const std::string& text = listener.hosts(i);
    const Spot here(at, static_cast<size_t>(i));
    here.Refuse(NamespacedHostProblem(text, false, false));
    const size_t slash = text.find('/');
    if (slash == std::string::npos || text.starts_with('~')) continue;
    const std::string ns = text.substr(0, slash), host = text.substr(slash + 1);
    auto& hosts = seen[ns == "." ? at.meta().ns.str() : ns];
    if (host == "*" ? !hosts.empty() : hosts.contains(host) || hosts.contains("*"))
      here.Warn("duplicate-item", StrCat("\"", text, "\" is selected by another host too"));
    hosts.insert(host);
  }
  if (seen.contains("*") && seen["*"].contains("*") && seen.size() != 1)
    at.Warn("no-effect", "*/* selects everything");
}

void CheckEgress(const net::Sidecar& sidecar, const Spot& at) {
  std::set<uint32_t> ports;
  std::set<std::string_view> sockets;
  bool catch_all = false;
  for (int i = 0; i < sidecar.egress_size(); ++i) {
    const net::IstioEgressListener& listener = sidecar.egress(i);
    const Spot here(at, static_cast<size_t>(i));
    if (!listener.has_port()) {
      if (catch_all) here.Error("conflict", "only one listener may be without a port");
      if (i + 1 != sidecar.egress_size())
        here.Error("conflict", "the listener without a port is the last one");
      catch_all = true;
    } else {
      CheckEgressPort(listener, here);
      const uint32_t number = listener.port().number();
      const bool fresh = number == 0 ? sockets.insert(listener.bind()).second : ports.insert(number).second;
      if (!fresh) here.Field("port").Error("duplicate-item", "another listener has this port or socket");
    }
    CheckEgressHosts(listener, Spot(here, "hosts"));
  }
}

void CheckOutbound(const net::OutboundTrafficPolicy& policy, const Spot& at) {
  constexpr int kDynamicDns = 2;  // of the mesh's setting of the same name
  if (static_cast<int>(policy.mode()) == kDynamicDns)
    return at.Field("mode").Error("unsupported", "this mode is only for the mesh");
  if (!policy.has_egress_proxy()) return;
  const Spot proxy(at, "egressProxy");
  if (policy.mode() != net::OutboundTrafficPolicy::ALLOW_ANY)
    return proxy.Error("conflict", "this goes only with mode ALLOW_ANY");
  proxy.Field("host").Refuse(DomainProblem(policy.egress_proxy().host()));
  if (!policy.egress_proxy().has_port())
    return proxy.Field("port").Error("missing-field", "this field is required");
  CheckDestination(policy.egress_proxy(), proxy);
}

}  // namespace

void CheckSidecar(const google::protobuf::Message& message, const Spot& spec) {
  const auto& sidecar = static_cast<const net::Sidecar&>(message);
  const Spot selector(spec, "workloadSelector");
  if (sidecar.has_workload_selector())
    CheckSelectedLabels(sidecar.workload_selector().labels(), Spot(selector, "labels"));
  if (sidecar.egress_size() == 0 && sidecar.ingress_size() == 0 && !sidecar.has_outbound_traffic_policy() &&
      !sidecar.has_inbound_connection_pool()) {
    return spec.Error("missing-field", "a sidecar has at least one setting");
  }
  std::set<uint32_t> ports;
  const Spot ingress(spec, "ingress");
  for (int i = 0; i < sidecar.ingress_size(); ++i)
    CheckIngress(sidecar.ingress(i), &ports, Spot(ingress, static_cast<size_t>(i)));
  if (sidecar.has_inbound_connection_pool())
    CheckConnectionPool(sidecar.inbound_connection_pool(), Spot(spec, "inboundConnectionPool"));
  CheckEgress(sidecar, Spot(spec, "egress"));
  if (sidecar.has_outbound_traffic_policy())
    CheckOutbound(sidecar.outbound_traffic_policy(), Spot(spec, "outboundTrafficPolicy"));
}

}  // namespace fairlead::config::check
