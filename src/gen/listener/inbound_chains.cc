#include <span>

#include "base/strings.h"
#include "envoy/config/listener/v3/listener.pb.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "gen/listener/chain.h"
#include "gen/listener/inbound.h"
#include "gen/listener/listener_parts.h"
#include "gen/listener/port_conflicts.h"
#include "gen/listener/server_tls.h"
#include "gen/naming/cluster_name.h"
#include "gen/naming/metadata.h"
#include "gen/naming/stat_name.h"
#include "gen/route/inbound.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "proto/messages.h"

namespace fairlead::gen::listener {
namespace {

using envoy::config::listener::v3::FilterChain;
using envoy::config::listener::v3::Listener;
using envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager;
using mesh::MutualTlsMode;
using Alpn = std::span<const char* const>;

// One way in which clients come to a port.
struct Arrival {
  Alpn alpn;  // empty: any
  const char* transport;
  Inner inner;
  bool mutual_tls;
};

constexpr const char kTls[] = "tls";
constexpr const char kRaw[] = "raw_buffer";

// What other sidecars offer inside mutual TLS: which says whether the client took the connection for HTTP.
constexpr const char* kHttpFromSidecar[] = {"istio-http/1.0", "istio-http/1.1", "istio-h2"};
constexpr const char* kTcpFromSidecar[] = {"istio-peer-exchange", "istio"};
constexpr const char* kAnyFromSidecar[] = {"istio", "istio-peer-exchange", "istio-http/1.0", "istio-http/1.1",
                                           "istio-h2"};

constexpr Arrival kPermissiveHttp[] = {{kAnyFromSidecar, kTls, Inner::kHttp, true},
                                       {{}, kRaw, Inner::kHttp, false}};
constexpr Arrival kPermissiveTcp[] = {{kAnyFromSidecar, kTls, Inner::kTcp, true},
                                      {{}, kTls, Inner::kTcp, false},  // TLS of the workloads' own
                                      {{}, kRaw, Inner::kTcp, false}};
constexpr Arrival kPermissiveAuto[] = {{kHttpFromSidecar, kTls, Inner::kHttp, true},
                                       {kPlaintextHttpAlpn, kRaw, Inner::kHttp, false},
                                       {kTcpFromSidecar, kTls, Inner::kTcp, true},
                                       {{}, kRaw, Inner::kTcp, false},
                                       {{}, kTls, Inner::kTcp, false}};
constexpr Arrival kStrictHttp[] = {{{}, kTls, Inner::kHttp, true}};
constexpr Arrival kStrictTcp[] = {{{}, kTls, Inner::kTcp, true}};
constexpr Arrival kStrictAuto[] = {{kHttpFromSidecar, kTls, Inner::kHttp, true},
                                   {{}, kTls, Inner::kTcp, true}};
constexpr Arrival kPlainHttp[] = {{{}, kRaw, Inner::kHttp, false}};
constexpr Arrival kPlainTcp[] = {{{}, kRaw, Inner::kTcp, false}};
constexpr Arrival kPlainAuto[] = {{kPlaintextHttpAlpn, kRaw, Inner::kHttp, false},
                                  {{}, kRaw, Inner::kTcp, false}};

// TLS of a Sidecar's ingress: for clients outside of the mesh, so that mutual TLS must be off.
constexpr Arrival kOwnTlsHttp[] = {{{}, kTls, Inner::kHttp, false}};
constexpr Arrival kOwnTlsTcp[] = {{{}, kTls, Inner::kTcp, false}};

bool HasOwnTls(const InboundPort& port) {
  return port.tls != nullptr && port.mode == MutualTlsMode::kDisable;
}

std::span<const Arrival> ArrivalsOf(MutualTlsMode mode, model::Protocol protocol) {
  const ListenerKind kind = KindOf(protocol);
  const auto choose = [kind](std::span<const Arrival> http, std::span<const Arrival> sniffed,
                             std::span<const Arrival> tcp) {
    if (kind == ListenerKind::kHttp) return http;
    return kind == ListenerKind::kAuto ? sniffed : tcp;  // UDP ports, too, get TCP's chains
  };
  switch (mode) {
    case MutualTlsMode::kStrict:
      return choose(kStrictHttp, kStrictAuto, kStrictTcp);
    case MutualTlsMode::kPermissive:
      return choose(kPermissiveHttp, kPermissiveAuto, kPermissiveTcp);
    default:
      return choose(kPlainHttp, kPlainAuto, kPlainTcp);
  }
}

std::span<const Arrival> ArrivalsOf(const InboundPort& port) {
  if (!HasOwnTls(port)) return ArrivalsOf(port.mode, port.protocol);
  return KindOf(port.protocol) == ListenerKind::kHttp ? kOwnTlsHttp : kOwnTlsTcp;
}

std::string ClusterOf(const InboundPort& port) {
  return port.passthrough ? std::string(kInboundPassthroughCluster) : InboundClusterName(port.target);
}

std::string ChainName(const InboundPort& port, Inner inner) {
  if (!port.passthrough) return ListenerName(port.binds.front(), port.target);
  return inner == Inner::kHttp ? "virtualInbound-catchall-http" : "virtualInbound";
}

std::string TraceOperation(const InboundPort& port) {
  const bool bracketed = port.hostname.find(':') != std::string::npos;
  return bracketed ? StrCat('[', port.hostname, "]:", port.service_port, "/*")
                   : StrCat(port.hostname, ':', port.service_port, "/*");
}

void AddHttp(const EncodedFragments& fragments, const InboundPort& port, FilterChain* out) {
  AddNetworkPlugins(fragments, TrafficClass::kInbound, port.target, out);
  HttpConnectionManager own;
  own.set_stat_prefix(StatName(port.passthrough
                                   ? ClusterOf(port)
                                   : StrCat("inbound_", ListenerName(port.binds.front(), port.target))));
  const auto& mesh = *fragments.traits().settings->mesh;
  const auto* retries =
      mesh.has_default_inbound_http_retry_policy() ? &mesh.default_inbound_http_retry_policy() : nullptr;
  route::BuildInboundRouteConfiguration(
      {ClusterOf(port), TraceOperation(port), port.service_port, port.protocol, retries},
      own.mutable_route_config());
  HttpOptions options;
  options.traffic = TrafficClass::kInbound;
  options.protocol = port.protocol;
  options.port = port.target;
  AddHttpFilters(fragments, options, own.SerializeAsString(), out);
}

void AddTcp(const EncodedFragments& fragments, const InboundPort& port, FilterChain* out) {
  AddAccessFilters(fragments, TrafficClass::kInbound, port.service_port, out);
  TcpForward forward;
  forward.stat_prefix = port.tcp_stat_prefix;
  forward.clusters = {{ClusterOf(port), 0}};
  forward.protocol = port.protocol;
  forward.idle_timeout = fragments.traits().idle_timeout;
  AddTcpFilters(fragments, TrafficClass::kInbound, forward, out);
}

void SetMatch(const model::Features& features, const InboundPort& port, const Arrival& arrival,
              FilterChain* out) {
  auto* match = out->mutable_filter_chain_match();
  if (port.target > 0) match->mutable_destination_port()->set_value(port.target);
  match->set_transport_protocol(arrival.transport);
  const bool sniffed = arrival.alpn.data() == kPlaintextHttpAlpn;
  for (const char* protocol : sniffed ? PlaintextHttpAlpn(features) : arrival.alpn)
    match->add_application_protocols(protocol);
}

// What is sent to the listener's own port was not redirected there: passing it on would come back for ever.
void AddBlackHole(const EncodedFragments& fragments, uint32_t listener_port, FilterChain* out) {
  out->set_name("virtualInbound-blackhole");
  out->mutable_filter_chain_match()->mutable_destination_port()->set_value(listener_port);
  AddMetadataExchangeFilter(fragments, out);
  TcpForward forward;
  forward.stat_prefix = std::string(kBlackHoleCluster);
  forward.clusters = {{std::string(kBlackHoleCluster), 0}};
  forward.access_log = false;
  AddTcpFilters(fragments, TrafficClass::kInbound, forward, out);
}

}  // namespace

void AddInboundChains(const EncodedFragments& fragments, const InboundPort& port, Listener* out) {
  const FilterChain *http = nullptr, *tcp = nullptr;  // the first one, whose filters the others have, too
  for (const Arrival& arrival : ArrivalsOf(port)) {
    FilterChain* chain = out->add_filter_chains();
    chain->set_name(ChainName(port, arrival.inner));
    SetMatch(fragments.traits().settings->features, port, arrival, chain);
    const FilterChain*& first = arrival.inner == Inner::kHttp ? http : tcp;
    if (first != nullptr) {
      *chain->mutable_filters() = first->filters();
    } else {
      first = chain;
      AddMetadataExchangeFilter(fragments, chain);
      arrival.inner == Inner::kHttp ? AddHttp(fragments, port, chain) : AddTcp(fragments, port, chain);
    }
    if (arrival.mutual_tls)
      chain->mutable_transport_socket()->MergeFromString(fragments.MutualTls(arrival.inner));
    if (HasOwnTls(port)) {
      const ServerTls own{
          *port.tls, /*quic=*/false, /*exchanges_metadata=*/false, /*credential_socket=*/false, {}};
      SetServerTls(fragments.traits(), own, chain->mutable_transport_socket());
    }
    if (!port.config_path.empty()) {
      proto::SetString("config", port.config_path, IstioMetadata(chain->mutable_metadata()));
    }
  }
}

void BuildInboundListener(const InboundInputs& inputs, Listener* out) {
  const ProxyTraits& traits = inputs.fragments->traits();
  out->set_traffic_direction(envoy::config::core::v3::INBOUND);
  out->set_continue_on_listener_filters_timeout(true);
  LimitAccepts(traits.settings->features, out);
  if (traits.inbound_exact_balance) SetExactBalance(out);
  const auto& mesh = *traits.settings->mesh;
  if (inputs.virtual_listener) {
    const std::vector<std::string> wildcards = WildcardAddresses(traits);
    out->set_name("virtualInbound");
    SetAddresses(Served(traits, wildcards), mesh.proxy_inbound_listen_port(), out);
    if (traits.interception == model::InterceptionMode::kTproxy) out->mutable_transparent()->set_value(true);
    AddBlackHole(*inputs.fragments, mesh.proxy_inbound_listen_port(), out->add_filter_chains());
  } else {
    const InboundPort& port = inputs.ports.front();
    out->set_name(ListenerName(port.binds.front(), port.target));
    SetAddresses(Served(traits, port.binds), port.target, out);
  }
  for (const InboundPort& port : inputs.ports) AddInboundChains(*inputs.fragments, port, out);
  out->MergeFromString(inputs.fragments->ListenerAccessLogs(TrafficClass::kInbound));
  if (inputs.virtual_listener) {
    SetOriginalDestination(out->add_listener_filters());
    if (traits.interception == model::InterceptionMode::kTproxy)
      SetOriginalSource(out->add_listener_filters());
  }
  AddInspectors(out);
  if (mesh.has_protocol_detection_timeout()) {
    *out->mutable_listener_filters_timeout() = mesh.protocol_detection_timeout();
  }
}

}  // namespace fairlead::gen::listener
