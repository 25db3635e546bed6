#include "envoy/config/listener/v3/listener.pb.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "gen/listener/listener_parts.h"
#include "gen/listener/outbound.h"
#include "gen/naming/cluster_name.h"
#include "gen/naming/stat_name.h"
#include "istio/mesh/v1alpha1/config.pb.h"

namespace fairlead::gen::listener {
namespace {

using envoy::config::listener::v3::FilterChain;
using envoy::config::listener::v3::Listener;
using envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager;

constexpr uint32_t kDirectResponseBodyLimit = 1024 * 1024;

TcpForward ForwardTo(std::string_view cluster) {
  TcpForward forward;
  forward.stat_prefix = std::string(cluster);
  forward.clusters = {{std::string(cluster), 0}};
  return forward;
}

// What is sent to the listener's own port was not redirected there: passing it on would come back for ever.
void SetBlackHole(const EncodedFragments& fragments, uint32_t port, FilterChain* out) {
  out->set_name("virtualOutbound-blackhole");
  out->mutable_filter_chain_match()->mutable_destination_port()->set_value(port);
  TcpForward forward = ForwardTo(kBlackHoleCluster);
  forward.access_log = false;
  AddTcpFilters(fragments, TrafficClass::kOutbound, forward, out);
}

// ALLOW_ANY_DYNAMIC_DNS: requests are forwarded to the host that they name.
void SetDynamicDnsHttp(const EncodedFragments& fragments, FilterChain* out) {
  out->set_name("virtualOutbound-catchall-tcp-http");
  for (const char* protocol : PlaintextHttpAlpn(fragments.traits().settings->features)) {
    out->mutable_filter_chain_match()->add_application_protocols(protocol);
  }
  HttpConnectionManager own;
  own.set_stat_prefix(StatName("outbound_virtualOutbound_allow_any_dynamic_dns"));
  auto* routes = own.mutable_route_config();
  routes->set_name("allow_any_dynamic_dns");
  routes->mutable_validate_clusters()->set_value(false);
  routes->mutable_max_direct_response_body_size_bytes()->set_value(kDirectResponseBodyLimit);
  routes->set_ignore_port_in_host_matching(true);
  route::BuildCatchAllVirtualHost(fragments.traits().catch_all, routes->add_virtual_hosts());
  HttpOptions options;
  options.protocol = model::Protocol::kHttp;
  AddHttpFilters(fragments, options, own.SerializeAsString(), out);
}

}  // namespace

void AddCatchAllFilters(const EncodedFragments& fragments, FilterChain* out) {
  TcpForward forward = ForwardTo(fragments.traits().catch_all.cluster);
  forward.idle_timeout = fragments.traits().idle_timeout;
  AddTcpFilters(fragments, TrafficClass::kOutbound, forward, out);
}

void BuildVirtualOutboundListener(const EncodedFragments& fragments, Listener* out) {
  const ProxyTraits& traits = fragments.traits();
  const uint32_t port = traits.settings->mesh->proxy_listen_port();
  const bool dynamic_dns = traits.catch_all.mode == route::CatchAllMode::kDynamicDns;
  out->set_name("virtualOutbound");
  const std::vector<std::string> all = WildcardAddresses(traits);
  const auto served = Served(traits, all);
  std::vector<std::string> wildcards(served.begin(), served.end());
  // An IPv6 workload may reach IPv4 by an address that the node translates.
  if (traits.settings->features.ipv4_of_ipv6 && !traits.ipv4) wildcards.emplace_back("0.0.0.0");
  SetAddresses(wildcards, port, out);
  out->set_traffic_direction(envoy::config::core::v3::OUTBOUND);
  out->mutable_use_original_dst()->set_value(true);
  if (traits.interception == model::InterceptionMode::kTproxy) out->mutable_transparent()->set_value(true);
  LimitAccepts(traits.settings->features, out);
  if (dynamic_dns) SetHttpInspector(out->add_listener_filters());
  SetBlackHole(fragments, port, out->add_filter_chains());
  if (dynamic_dns) SetDynamicDnsHttp(fragments, out->add_filter_chains());
  FilterChain* rest = out->add_filter_chains();
  rest->set_name("virtualOutbound-catchall-tcp");
  AddCatchAllFilters(fragments, rest);
  out->MergeFromString(fragments.ListenerAccessLogs(TrafficClass::kOutbound));
}

}  // namespace fairlead::gen::listener
