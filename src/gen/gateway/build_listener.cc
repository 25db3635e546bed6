#include "gen/gateway/build_listener.h"

#include <algorithm>

#include "base/strings.h"
#include "envoy/config/listener/v3/listener.pb.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "gen/gateway/build_udp_listener.h"
#include "gen/listener/connection_settings.h"
#include "gen/listener/listener_parts.h"
#include "gen/listener/server_tls.h"
#include "gen/naming/stat_name.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"
#include "istio/networking/v1alpha3/gateway.pb.h"
#include "model/protocol.h"
#include "proto/messages.h"

namespace fairlead::gen::gateway {
namespace {

using envoy::config::listener::v3::FilterChain;
using envoy::config::listener::v3::Listener;
using envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager;
using istio::mesh::v1alpha1::ProxyConfig;
using listener::EncodedFragments;
using listener::TrafficClass;

// What workloads offer inside mutual TLS.
constexpr const char* kMeshAlpn[] = {"istio", "istio-peer-exchange", "istio-http/1.0", "istio-http/1.1",
                                     "istio-h2"};

bool MatchesAnyName(const GatewayChain& chain) {
  return chain.sni_hosts.empty() ||
         std::find(chain.sni_hosts.begin(), chain.sni_hosts.end(), "*") != chain.sni_hosts.end();
}

void SetMatch(const GatewayChain& chain, FilterChain* out) {
  if (!MatchesAnyName(chain)) {
    std::vector<std::string> hosts = chain.sni_hosts;
    std::sort(hosts.begin(), hosts.end());
    for (std::string& host : hosts) out->mutable_filter_chain_match()->add_server_names(std::move(host));
  }
  if (!chain.mesh_tls) return;
  for (const char* protocol : kMeshAlpn)
    out->mutable_filter_chain_match()->add_application_protocols(protocol);
}

void SetTls(const GatewayListenerInputs& inputs, const Termination& termination,
            envoy::config::core::v3::TransportSocket* out) {
  const auto& server = termination.server->spec();
  const model::Protocol protocol = model::ParseProtocol(server.port().protocol());
  const bool stream = !model::IsHttp(protocol) && protocol != model::Protocol::kHttps;
  listener::SetServerTls(
      inputs.fragments->traits(),
      {server.tls(), inputs.quic, stream, termination.credential_socket, termination.secret_server}, out);
}

void SetChain(const GatewayListenerInputs& inputs, const GatewayChain& chain, FilterChain* out) {
  const EncodedFragments& fragments = *inputs.fragments;
  SetMatch(chain, out);
  listener::LimitHandshake(fragments.traits().settings->features, out);
  if (chain.termination.server != nullptr) {
    SetTls(inputs, chain.termination, out->mutable_transport_socket());
  }
  if (const auto* tcp = std::get_if<listener::TcpForward>(&chain.forward)) {
    if (chain.exchange_metadata) AddMetadataExchangeFilter(fragments, out);
    // What is passed through as it came is for the workload's policies.
    if (!chain.mesh_tls) AddAccessFilters(fragments, TrafficClass::kGateway, inputs.port, out);
    return AddTcpFilters(fragments, TrafficClass::kGateway, *tcp, out);
  }
  const auto& http = std::get<listener::HttpForward>(chain.forward);
  HttpConnectionManager own;
  own.set_stat_prefix(chain.stat_prefix.empty() ? StatName(StrCat("outbound_", inputs.Name()))
                                                : chain.stat_prefix);
  listener::SetRouteDiscovery(http.route_name, &own);
  listener::HttpOptions options = http.options;
  options.port = inputs.port;
  if (!inputs.quic) AddNetworkPlugins(fragments, TrafficClass::kGateway, inputs.port, out);
  AddHttpFilters(fragments, options, own.SerializeAsString(), out);
}

void SetProxyProtocol(Listener* out) {
  auto* filter = out->add_listener_filters();
  filter->set_name("envoy.filters.listener.proxy_protocol");
  proto::PackEmpty("envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol",
                   filter->mutable_typed_config());
}

void SetTcp(const GatewayListenerInputs& inputs, const ProxyConfig& config, Listener* out) {
  const std::string binds[] = {inputs.bind, inputs.more_bind};  // an empty one is passed over
  listener::SetAddresses(binds, inputs.port, out);
  if (inputs.fragments->traits().outbound_exact_balance) listener::SetExactBalance(out);
  if (config.gateway_topology().has_proxy_protocol()) SetProxyProtocol(out);
  const bool reads_names =
      std::any_of(inputs.chains.begin(), inputs.chains.end(), [](const GatewayChain& chain) {
        return !chain.sni_hosts.empty() || chain.termination.server != nullptr;
      });
  if (reads_names) listener::SetTlsInspector(out->add_listener_filters());
}

void SetQuic(const GatewayListenerInputs& inputs, Listener* out) {
  proto::SetUdpAddress(inputs.bind, inputs.port, out->mutable_address());
  if (!inputs.more_bind.empty())
    proto::SetUdpAddress(inputs.more_bind, inputs.port, out->add_additional_addresses()->mutable_address());
  out->mutable_udp_listener_config()->mutable_quic_options();
  out->mutable_udp_listener_config()->mutable_downstream_socket_config();
}

}  // namespace

std::string GatewayListenerInputs::Name() const {
  return StrCat(quic || datagrams ? "udp_" : "", listener::ListenerName(bind, port));
}

void BuildGatewayListener(const GatewayListenerInputs& inputs, Listener* out) {
  ProxyConfig config;
  config.ParseFromString(inputs.fragments->traits().proxy_config.str());
  out->set_name(inputs.Name());
  out->set_traffic_direction(envoy::config::core::v3::OUTBOUND);
  if (inputs.datagrams) return SetUdpProxy(inputs, out);
  listener::LimitAccepts(inputs.fragments->traits().settings->features, out);
  inputs.quic ? SetQuic(inputs, out) : SetTcp(inputs, config, out);
  const auto settings = listener::EffectiveConnectionSettings(config.connection_settings(), /*router=*/true);
  const auto& limit = settings.listener_per_connection_buffer_limit_bytes();
  if (settings.has_listener_per_connection_buffer_limit_bytes() && limit.value() >= 0)
    out->mutable_per_connection_buffer_limit_bytes()->set_value(static_cast<uint32_t>(limit.value()));
  for (const GatewayChain& chain : inputs.chains) SetChain(inputs, chain, out->add_filter_chains());
  out->MergeFromString(inputs.fragments->ListenerAccessLogs(TrafficClass::kGateway));
}

}  // namespace fairlead::gen::gateway
