#include "gen/gateway/collect_listeners.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/strings.h"
#include "config/derived_object.h"
#include "gen/hosts/provider_service.h"
#include "gen/hosts/udp_routes.h"
#include "gen/naming/cluster_name.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "istio/networking/v1alpha3/gateway.pb.h"
#include "mesh/index/policy_selection.h"
#include "model/protocol.h"

namespace fairlead::gen::gateway {
namespace {

namespace api = istio::networking::v1alpha3;
using listener::HttpForward;
using model::Protocol;

constexpr uint32_t kFirstUnprivilegedPort = 1024;

// Of the extension providers, the first of the kind.
listener::SecretServer FindSecretServer(mesh::View& view) {
  const model::SettingsPtr settings = view.settings(model::SettingsPart::kListeners);
  for (const auto& provider : settings->mesh->extension_providers()) {
    if (!provider.has_sds()) continue;
    const Interned host = FindProviderHost(view, provider.sds().service());
    if (host.empty()) return {.cluster = {}, .host = {}, .missing = true};
    return {OutboundClusterName(provider.sds().port(), "", host), host};
  }
  return {};
}

bool HasExternalCredential(const api::ServerTLSSettings& tls) {
  const auto is_external = [](const std::string& name) { return name.starts_with("sds://"); };
  return is_external(tls.credential_name()) || is_external(tls.ca_cert_credential_name()) ||
         std::any_of(tls.credential_names().begin(), tls.credential_names().end(), is_external);
}

// As for TCP, the first destination's rule counts.
bool HashesSourceIp(const mesh::DestinationRulePtr& rule) {
  return rule != nullptr && rule->spec->traffic_policy().load_balancer().consistent_hash().use_source_ip();
}

// What listeners without an address of their own listen on.
std::vector<std::string> Wildcards(const listener::ProxyTraits& traits) {
  const std::vector<std::string> all = listener::WildcardAddresses(traits);
  const auto served = listener::Served(traits, all);
  return {served.begin(), served.end()};
}

class Collector {
 public:
  Collector(mesh::View& view, const listener::EncodedFragmentsPtr& fragments)
      : view_(view), fragments_(fragments), wildcards_(Wildcards(fragments->traits())) {}

  std::vector<GatewayListenerInputs> Collect() {
    const auto ports = view_.gateway_ports();
    for (const mesh::GatewayPort& port : *ports) {
      if (port.number < kFirstUnprivilegedPort && view_.proxy_class().unprivileged) continue;
      AddPort(port);
    }
    std::vector<GatewayListenerInputs> listeners;
    for (auto& [name, inputs] : listeners_) {
      if (!inputs.chains.empty() || inputs.datagrams) listeners.push_back(std::move(inputs));
    }
    return listeners;
  }

 private:
  void AddPort(const mesh::GatewayPort& port) {
    if (port.udp()) return AddUdp(port);
    const Protocol protocol = model::ParseProtocol(port.protocol);
    GatewayListenerInputs& tcp = ListenerOf(port, /*quic=*/false);
    if (model::IsHttp(protocol)) {
      tcp.chains.push_back(PlainHttp(port, protocol));
    } else {
      for (const mesh::GatewayServerPtr& server : port.servers) AddServer(port, server, &tcp);
    }
    if (port.quic_servers.empty()) return;
    GatewayListenerInputs& quic = ListenerOf(port, /*quic=*/true);
    for (const mesh::GatewayServerPtr& server : port.quic_servers) {
      quic.chains.push_back(TerminatedHttp(server, /*http3=*/true));
    }
  }

  void AddUdp(const mesh::GatewayPort& port) {
    const auto route = FindUdpRoute(view_, port);
    if (!route) return;
    DatagramForward forward;
    forward.total = route->total;
    for (const UdpBackend& backend : route->backends)
      forward.clusters.push_back(
          {UdpClusterName(backend.port, backend.service->hostname.str()), backend.weight});
    if (!route->backends.empty())
      forward.hash_source_ip = HashesSourceIp(view_.Rule(route->backends.front().service->hostname));
    GatewayListenerInputs inputs = InputsFor(port);
    inputs.datagrams = std::move(forward);
    std::string name = inputs.Name();
    listeners_.try_emplace(std::move(name), std::move(inputs));
  }

  GatewayListenerInputs InputsFor(const mesh::GatewayPort& port) const {
    GatewayListenerInputs inputs;
    inputs.fragments = fragments_;
    inputs.bind = port.bind.empty() ? wildcards_.front() : port.bind;
    if (port.bind.empty() && wildcards_.size() > 1) inputs.more_bind = wildcards_.back();
    inputs.port = port.number;
    return inputs;
  }

  GatewayListenerInputs& ListenerOf(const mesh::GatewayPort& port, bool quic) {
    GatewayListenerInputs inputs = InputsFor(port);
    inputs.quic = quic;
    std::string name = inputs.Name();
    return listeners_.try_emplace(std::move(name), std::move(inputs)).first->second;
  }

  static GatewayChain PlainHttp(const mesh::GatewayPort& port, Protocol protocol) {
    GatewayChain chain;
    chain.forward = Http(port.route_name, protocol, false);
    return chain;
  }

  GatewayChain TerminatedHttp(const mesh::GatewayServerPtr& server, bool http3) {
    GatewayChain chain;
    chain.sni_hosts = server->sni_hosts;
    chain.termination = TerminationOf(view_, server);
    chain.stat_prefix = server->spec().name();
    chain.forward = Http(server->route_name, Protocol::kHttps, http3);
    return chain;
  }

  static HttpForward Http(const std::string& route_name, Protocol protocol, bool http3) {
    HttpForward forward;
    forward.route_name = route_name;
    forward.options.traffic = listener::TrafficClass::kGateway;
    if (protocol == Protocol::kGrpcWeb) forward.options.protocol = protocol;
    forward.options.http3 = http3;
    return forward;
  }

  void AddServer(const mesh::GatewayPort& port, const mesh::GatewayServerPtr& server,
                 GatewayListenerInputs* out) {
    if (server->terminates_https) return out->chains.push_back(TerminatedHttp(server, /*http3=*/false));
    for (GatewayChain& chain :
         CollectStreamChains(view_, fragments_->traits(), server, port.number, &taken_)) {
      out->chains.push_back(std::move(chain));
    }
  }

  mesh::View& view_;
  const listener::EncodedFragmentsPtr& fragments_;
  const std::vector<std::string> wildcards_;
  TakenHosts taken_;
  std::map<std::string, GatewayListenerInputs> listeners_;  // by name
};

}  // namespace

bool PicksEndpoints(mesh::View& view) {
  if (!view.settings(model::SettingsPart::kListeners)->features.inference_pools) return false;
  static const auto* label = new Interned(mesh::kGatewayNameLabel);
  const std::string_view gateway = view.Label(*label);
  if (gateway.empty()) return false;
  const std::string prefix = StrCat(gateway, "~");
  for (const mesh::GatewayPort& port : *view.gateway_ports()) {
    for (const mesh::GatewayServerPtr& server : port.servers) {
      const config::ObjectMeta& meta = server->gateway->meta();
      if (meta.ns == view.client_namespace() && std::string_view(meta.name).starts_with(prefix) &&
          meta.annotations.contains(config::kInferencePoolsAnnotation))
        return true;
    }
  }
  return false;
}

Termination TerminationOf(mesh::View& view, const mesh::GatewayServerPtr& server) {
  Termination termination;
  termination.server = server;
  if (!HasExternalCredential(server->spec().tls())) return termination;
  termination.credential_socket = view.proxy_class().credential_socket;
  if (!termination.credential_socket) termination.secret_server = FindSecretServer(view);
  return termination;
}

std::vector<GatewayListenerInputs> CollectListeners(mesh::View& view,
                                                    const listener::EncodedFragmentsPtr& fragments) {
  return Collector(view, fragments).Collect();
}

}  // namespace fairlead::gen::gateway
