#include <algorithm>
#include <utility>

#include "base/ip_address.h"
#include "base/strings.h"
#include "envoy/config/listener/v3/listener.pb.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "gen/listener/listener_parts.h"
#include "gen/listener/outbound.h"
#include "gen/naming/metadata.h"
#include "gen/naming/stat_name.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "proto/messages.h"

namespace fairlead::gen::listener {
namespace {

using envoy::config::listener::v3::FilterChain;
using envoy::config::listener::v3::FilterChainMatch;
using envoy::config::listener::v3::Listener;
using envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager;

void AddRange(const std::string& destination, FilterChainMatch* out) {
  const auto range = IpPrefix::ParseRange(destination);
  if (!range || (range->address.is_v4() && range->address.is_unspecified())) return;
  auto* prefix = out->add_prefix_ranges();
  prefix->set_address_prefix(range->address.ToString());
  prefix->mutable_prefix_len()->set_value(range->bits);
}

void SetMatch(const model::Features& features, const OutboundChain& chain, FilterChainMatch* out) {
  if (chain.sniffed_http) {
    for (const char* protocol : PlaintextHttpAlpn(features)) out->add_application_protocols(protocol);
    out->set_transport_protocol("raw_buffer");
  }
  std::vector<std::string> hosts = chain.sni_hosts;
  if (std::find(hosts.begin(), hosts.end(), "*") == hosts.end()) {
    std::sort(hosts.begin(), hosts.end());
    for (std::string& host : hosts) out->add_server_names(std::move(host));
  }
  std::vector<std::string> destinations = chain.destinations;
  std::sort(destinations.begin(), destinations.end());
  for (const std::string& destination : destinations) AddRange(destination, out);
}

void SetChain(const EncodedFragments& fragments, const OutboundChain& chain, const std::string& listener_name,
              uint32_t port, FilterChain* out) {
  LimitHandshake(fragments.traits().settings->features, out);
  if (!chain.config_path.empty()) {
    proto::SetString("config", chain.config_path, IstioMetadata(out->mutable_metadata()));
  }
  if (!chain.http()) {
    AddAccessFilters(fragments, TrafficClass::kOutbound, port, out);
    return AddTcpFilters(fragments, TrafficClass::kOutbound, std::get<TcpForward>(chain.forward), out);
  }
  const HttpForward& http = std::get<HttpForward>(chain.forward);
  HttpConnectionManager own;
  own.set_stat_prefix(StatName(StrCat("outbound_", listener_name)));
  SetRouteDiscovery(http.route_name, &own);
  HttpOptions options = http.options;
  options.port = port;
  AddHttpFilters(fragments, options, own.SerializeAsString(), out);
}

void SetInspectors(const OutboundInputs& inputs, Listener* out) {
  bool tls = false, http = false;
  for (const OutboundChain& chain : inputs.chains) {
    const TcpForward* tcp = std::get_if<TcpForward>(&chain.forward);
    tls |= !chain.sni_hosts.empty() || (tcp != nullptr && !tcp->dynamic_dns_host.empty());
    http |= chain.sniffed_http;
  }
  if (tls) SetTlsInspector(out->add_listener_filters());
  if (http) SetHttpInspector(out->add_listener_filters());
  // Without sniffing there is nothing to wait for.
  const auto& mesh = *inputs.fragments->traits().settings->mesh;
  if (!http) {
    out->mutable_listener_filters_timeout();
  } else if (mesh.has_protocol_detection_timeout()) {
    *out->mutable_listener_filters_timeout() = mesh.protocol_detection_timeout();
  }
}

// A chain that matches everything becomes the default, so that a connection which meets a chain's first
// criteria and fails its last is not dropped. One chain alone needs no default.
void SetChains(const OutboundInputs& inputs, Listener* out) {
  bool has_http = false;  // as in Istio, plugins for connections are in the first chain with HTTP alone
  const auto set = [&](const OutboundChain& chain, FilterChain* made) {
    if (chain.http() && !std::exchange(has_http, true))
      AddNetworkPlugins(*inputs.fragments, TrafficClass::kOutbound, inputs.port, made);
    SetChain(*inputs.fragments, chain, out->name(), inputs.port, made);
  };
  for (const OutboundChain& chain : inputs.chains) {
    if (chain.MatchesAll()) {
      out->clear_default_filter_chain();  // the last one counts
      set(chain, out->mutable_default_filter_chain());
    } else {
      FilterChain* made = out->add_filter_chains();
      SetMatch(inputs.fragments->traits().settings->features, chain, made->mutable_filter_chain_match());
      set(chain, made);
    }
  }
  if (out->has_default_filter_chain() && out->filter_chains().empty()) {
    *out->add_filter_chains() = std::move(*out->mutable_default_filter_chain());
    out->clear_default_filter_chain();
  } else if (!out->has_default_filter_chain()) {
    FilterChain* fallthrough = out->mutable_default_filter_chain();
    fallthrough->mutable_filter_chain_match();
    fallthrough->set_name("PassthroughFilterChain");
    AddCatchAllFilters(*inputs.fragments, fallthrough);
  }
}

}  // namespace

std::string OutboundInputs::Name() const { return ListenerName(binds.front(), port); }

void BuildOutboundListener(const OutboundInputs& inputs, Listener* out) {
  out->set_name(inputs.Name());
  SetAddresses(inputs.binds, inputs.port, out);
  out->set_traffic_direction(envoy::config::core::v3::OUTBOUND);
  out->set_continue_on_listener_filters_timeout(true);
  if (inputs.fragments->traits().outbound_exact_balance) SetExactBalance(out);
  if (inputs.bind_to_port) {
    LimitAccepts(inputs.fragments->traits().settings->features, out);
  } else {
    out->mutable_bind_to_port()->set_value(false);
  }
  SetInspectors(inputs, out);
  SetChains(inputs, out);
}

}  // namespace fairlead::gen::listener
