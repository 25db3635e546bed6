#include "gateway_api/conversion/listener.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "gateway_api/conversion/listener_tls.h"
#include "gateway_api/conversion/namespaces.h"
#include "gateway_api/names.h"
#include "istio/networking/v1alpha3/gateway.pb.h"

namespace fairlead::gateway_api {
namespace {

using config::ConfigObject;
using config::Kind;
using config::Node;

constexpr std::string_view kAccepted = "Accepted";
constexpr std::string_view kProgrammed = "Programmed";
constexpr std::string_view kConflicted = "Conflicted";
constexpr std::string_view kResolvedRefs = "ResolvedRefs";
constexpr std::string_view kNoErrors = "No errors found";
constexpr std::string_view kUnsupportedProtocol = "UnsupportedProtocol";
constexpr std::string_view kProtocols[] = {"HTTP", "HTTPS", "TLS", "TCP"};
constexpr std::string_view kUdp = "UDP";  // beyond Istio, which has no such listeners
constexpr std::string_view kTunnelProtocol = "HBONE";

bool IsProtocol(std::string_view name, bool udp) {
  return (udp && name == kUdp) ||
         std::find(std::begin(kProtocols), std::end(kProtocols), name) != std::end(kProtocols);
}

MaybeError CheckProtocol(std::string_view protocol, bool udp) {
  if (IsProtocol(protocol, udp)) return std::nullopt;
  std::string message = StrCat("protocol \"", protocol, "\" is unsupported");
  const std::string upper = AsciiUpper(protocol);
  if (protocol == kTunnelProtocol) {
    message = StrCat("protocol \"", protocol, "\" is only supported for waypoint proxies");
  } else if (IsProtocol(upper, udp) || upper == kTunnelProtocol) {
    StrAppend(&message, ". hint: \"", upper, "\" (uppercase) may be supported");
  }
  return ConfigError{std::string(kUnsupportedProtocol), std::move(message)};
}

ConvertedListener Basics(const ConfigObject& owner, Node node) {
  ConvertedListener listener;
  listener.name = node.Find("name").text();
  listener.hostname = node.Find("hostname").text();
  listener.protocol = node.Find("protocol").text();
  listener.port = ListenerPort(owner, node);
  return listener;
}

void FinishConditions(Node node, DraftConditions conditions, const Lookups& lookups,
                      ConvertedListener* listener) {
  bool all_valid = true;
  listener->supported_kinds = SupportedKinds(node, lookups.features().udp_routes, &all_valid);
  if (!all_valid) conditions.Set(kResolvedRefs, "InvalidRouteKinds", "Invalid route kinds", false);
  listener->conditions = conditions.all();
}

bool IsAboutClients(const ConfigError& error) {
  return error.reason == kInvalidCaCertificateRef || error.reason == kInvalidCaCertificateKind ||
         error.reason == kRefNotPermitted;
}

void ReportTls(const ConfigError& error, DraftConditions* conditions) {
  conditions->Fail(kResolvedRefs, error);
  conditions->Fail(kProgrammed, {"Invalid", "Bad TLS configuration"});
  if (IsAboutClients(error)) conditions->Fail(kAccepted, {"NoValidCACertificate", error.message});
}

// The protocol wants TLS, and the listener does not say how.
bool LacksTls(const ConvertedListener& listener, const ListenerTls& tls) {
  return tls.settings == nullptr && (listener.protocol == "HTTPS" || listener.protocol == "TLS");
}

std::shared_ptr<const istio::networking::v1alpha3::Server> MakeServer(const ConvertedListener& listener,
                                                                      const ListenerTls& tls, bool udp,
                                                                      std::vector<std::string> hosts) {
  auto server = std::make_shared<istio::networking::v1alpha3::Server>();
  server->mutable_port()->set_name("default");
  server->mutable_port()->set_number(static_cast<uint32_t>(listener.port));
  if (IsProtocol(listener.protocol, udp)) server->mutable_port()->set_protocol(listener.protocol);
  for (std::string& host : hosts) server->add_hosts(std::move(host));
  if (tls.settings != nullptr) *server->mutable_tls() = *tls.settings;
  return server;
}

DraftConditions GoodConditions() {
  DraftConditions conditions;
  conditions.Set(kAccepted, kAccepted, kNoErrors);
  conditions.Set(kProgrammed, kProgrammed, kNoErrors);
  conditions.Set(kConflicted, "NoConflicts", kNoErrors, false);
  conditions.Set(kResolvedRefs, kResolvedRefs, kNoErrors);
  return conditions;
}

std::vector<GroupKind> KindsOfProtocol(Node listener, bool udp) {
  const std::string_view protocol = listener.Find("protocol").text();
  if (protocol == "HTTP" || protocol == "HTTPS")
    return {GroupKindOf(Kind::kHttpRoute), GroupKindOf(Kind::kGrpcRoute)};
  if (protocol == "TCP") return {GroupKindOf(Kind::kTcpRoute)};
  if (protocol == kUdp && udp) return {GroupKindOf(Kind::kUdpRoute)};
  if (protocol != "TLS") return {};
  if (listener.Find("tls").Find("mode").text() == "Terminate")
    return {GroupKindOf(Kind::kTlsRoute), GroupKindOf(Kind::kTcpRoute)};
  return {GroupKindOf(Kind::kTlsRoute)};
}

}  // namespace

int64_t ListenerPort(const ConfigObject& owner, Node listener) {
  const int64_t port = listener.Find("port").Int().value_or(0);
  if (port != 0 || owner.kind() == Kind::kKubernetesGateway) return port;
  const std::string_view protocol = listener.Find("protocol").text();
  return protocol == "HTTP" ? 80 : protocol == "HTTPS" ? 443 : 0;
}

std::vector<GroupKind> SupportedKinds(Node listener, bool udp, bool* all_valid) {
  std::vector<GroupKind> of_protocol = KindsOfProtocol(listener, udp);
  const Node allowed = listener.Find("allowedRoutes").Find("kinds");
  *all_valid = true;
  if (allowed.size() == 0) return of_protocol;
  std::vector<GroupKind> both;
  for (const GroupKind& kind : of_protocol) {
    bool named = false;
    for (Node one : allowed.elements())
      named = named || ReferredKind(one, {std::string(kGatewayGroup), ""}) == kind;
    if (named) both.push_back(kind);
  }
  *all_valid = both.size() == allowed.size();
  return both;
}

ConvertedListener BuildListener(const ConfigObject& owner, Node gateway, Node node, Lookups& lookups) {
  const bool udp = lookups.features().udp_routes;
  ConvertedListener listener = Basics(owner, node);
  DraftConditions conditions = GoodConditions();
  ListenerTls tls = BuildListenerTls(owner, gateway, node, listener.port, lookups);
  listener.valid = true;
  if (tls.error) {
    ReportTls(*tls.error, &conditions);
    listener.valid = false;
  }
  MaybeError refusal;
  if (listener.port == 0 && owner.kind() == Kind::kListenerSet) {
    refusal = ConfigError{std::string(kUnsupportedProtocol),
                          StrCat("protocol ", listener.protocol, " requires a port to be set")};
  }
  if (MaybeError error = CheckProtocol(listener.protocol, udp)) refusal = std::move(error);
  conditions.FailIf(kAccepted, refusal);
  listener.valid = listener.valid && !refusal;
  if (!LacksTls(listener, tls)) {
    listener.server = MakeServer(listener, tls, udp, ListenerHosts(node, owner.ns(), lookups));
  } else if (owner.kind() == Kind::kListenerSet) {
    listener.valid = false;
    conditions.Fail(kAccepted, {std::string(kUnsupportedProtocol),
                                StrCat("protocol is ", listener.protocol, " but no TLS section is defined")});
    conditions.Fail(kProgrammed, {"Invalid", "Bad TLS configuration"});
  }
  FinishConditions(node, std::move(conditions), lookups, &listener);
  return listener;
}

ConvertedListener ConflictedListener(const ConfigObject& owner, Node node, std::string_view reason,
                                     const Lookups& lookups) {
  constexpr std::string_view kMessage =
      "Listener has a conflict with another listener attached to the same Gateway";
  ConvertedListener listener = Basics(owner, node);
  listener.conflicted = true;
  DraftConditions conditions;
  conditions.Set(kAccepted, reason, kMessage, false);
  conditions.Set(kProgrammed, reason, kMessage, false);
  conditions.Set(kConflicted, reason, kMessage);
  FinishConditions(node, std::move(conditions), lookups, &listener);
  return listener;
}

}  // namespace fairlead::gateway_api
