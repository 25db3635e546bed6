#include "base/strings.h"
#include "contrib/envoy/extensions/filters/network/mysql_proxy/v3/mysql_proxy.pb.h"
#include "envoy/config/listener/v3/listener_components.pb.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "envoy/extensions/filters/network/mongo_proxy/v3/mongo_proxy.pb.h"
#include "envoy/extensions/filters/network/redis_proxy/v3/redis_proxy.pb.h"
#include "envoy/extensions/filters/network/sni_dynamic_forward_proxy/v3/sni_dynamic_forward_proxy.pb.h"
#include "envoy/extensions/filters/network/tcp_proxy/v3/tcp_proxy.pb.h"
#include "gen/extension/plugins.h"
#include "gen/listener/chain.h"
#include "gen/listener/dns_cache.h"
#include "gen/listener/encoded_fragments.h"
#include "gen/naming/metadata.h"
#include "proto/messages.h"

namespace fairlead::gen::listener {
namespace {

using envoy::config::listener::v3::FilterChain;
using envoy::extensions::filters::network::tcp_proxy::v3::TcpProxy;
using extension::Phase;

constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr int64_t kRedisTimeoutSeconds = 5;
// Of Envoy's contrib: stock builds have it not.
constexpr std::string_view kMySqlFilter = "envoy.filters.network.mysql_proxy";

void SetNanoseconds(int64_t nanoseconds, google::protobuf::Duration* out) {
  out->set_seconds(nanoseconds / kNanosecondsPerSecond);
  out->set_nanos(static_cast<int32_t>(nanoseconds % kNanosecondsPerSecond));
}

void AddFilter(std::string_view name, const google::protobuf::Message& config, FilterChain* out) {
  auto* filter = out->add_filters();
  filter->set_name(std::string(name));
  proto::Pack(config, filter->mutable_typed_config());
}

// Finds the server of a wildcard service by the name that the client's TLS asks for.
void AddSniForwardProxy(const ProxyTraits& traits, const TcpForward& forward, FilterChain* out) {
  envoy::extensions::filters::network::sni_dynamic_forward_proxy::v3::FilterConfig config;
  SetServiceDnsCache(traits, forward.dynamic_dns_host, config.mutable_dns_cache_config());
  config.set_port_value(forward.dynamic_dns_port);
  AddFilter("envoy.extensions.filters.network.sni_dynamic_forward_proxy", config, out);
}

void AddMongo(const std::string& stat_prefix, FilterChain* out) {
  envoy::extensions::filters::network::mongo_proxy::v3::MongoProxy config;
  config.set_stat_prefix(stat_prefix);
  AddFilter("envoy.filters.network.mongo_proxy", config, out);
}

// Ends the chain: it forwards by itself, to one cluster alone.
void AddRedis(const TcpForward& forward, FilterChain* out) {
  envoy::extensions::filters::network::redis_proxy::v3::RedisProxy config;
  config.set_stat_prefix(forward.stat_prefix);
  proto::SetSeconds(kRedisTimeoutSeconds, config.mutable_settings()->mutable_op_timeout());
  config.set_latency_in_micros(true);
  config.mutable_prefix_routes()->mutable_catch_all_route()->set_cluster(forward.clusters.front().name);
  AddFilter("envoy.filters.network.redis_proxy", config, out);
}

void AddMySql(const std::string& stat_prefix, FilterChain* out) {
  envoy::extensions::filters::network::mysql_proxy::v3::MySQLProxy config;
  config.set_stat_prefix(stat_prefix);
  AddFilter(kMySqlFilter, config, out);
}

void SetDestination(const TcpForward& forward, TcpProxy* out) {
  if (!forward.weighted) return out->set_cluster(forward.clusters.front().name);
  for (const WeightedCluster& cluster : forward.clusters) {
    auto* weighted = out->mutable_weighted_clusters()->add_clusters();
    weighted->set_name(cluster.name);
    weighted->set_weight(cluster.weight);
  }
}

TcpProxy TcpProxyOf(const TcpForward& forward) {
  TcpProxy proxy;
  proxy.set_stat_prefix(forward.stat_prefix);
  SetDestination(forward, &proxy);
  if (forward.idle_timeout) SetNanoseconds(*forward.idle_timeout, proxy.mutable_idle_timeout());
  if (forward.max_duration) {
    SetNanoseconds(*forward.max_duration, proxy.mutable_max_downstream_connection_duration());
  }
  if (forward.hash_source_ip) proxy.add_hash_policy()->mutable_source_ip();
  if (forward.tunnel) {
    proxy.mutable_tunneling_config()->set_hostname(forward.tunnel->target);
    proxy.mutable_tunneling_config()->set_use_post(forward.tunnel->post);
  }
  return proxy;
}

void AddPlugins(const EncodedFragments& fragments, std::initializer_list<Phase> phases, TrafficClass traffic,
                uint32_t port, FilterChain* out) {
  const ProxyTraits& traits = fragments.traits();
  const extension::FilterPlace place{traffic == TrafficClass::kInbound, port};
  for (const Phase phase : phases) {
    extension::AddNetworkPlugins(traits.plugins, phase, place, traits.HasExtension(extension::kHttpWasm),
                                 out->mutable_filters());
  }
}

}  // namespace

void AddTcpFilters(const EncodedFragments& fragments, TrafficClass traffic, const TcpForward& forward,
                   FilterChain* out) {
  out->MergeFromString(fragments.StatsFilters(traffic));
  if (!forward.dynamic_dns_host.empty()) AddSniForwardProxy(fragments.traits(), forward, out);
  const model::Features& features = fragments.traits().settings->features;
  if (features.redis_filter && forward.protocol == model::Protocol::kRedis) return AddRedis(forward, out);
  if (features.mongo_filter && forward.protocol == model::Protocol::kMongo)
    AddMongo(forward.stat_prefix, out);
  if (features.mysql_filter && forward.protocol == model::Protocol::kMySql &&
      fragments.traits().HasExtension(kMySqlFilter))
    AddMySql(forward.stat_prefix, out);
  AddFilter("envoy.filters.network.tcp_proxy", TcpProxyOf(forward), out);
  if (forward.access_log) {
    out->mutable_filters()->rbegin()->mutable_typed_config()->mutable_value()->append(
        fragments.TcpAccessLogs(traffic));
  }
}

void AddMetadataExchangeFilter(const EncodedFragments& fragments, FilterChain* out) {
  constexpr std::string_view kName = "istio.metadata_exchange";
  const model::Features& features = fragments.traits().settings->features;
  if (!features.metadata_exchange || !fragments.traits().HasExtension(kName)) return;
  auto* filter = out->add_filters();
  filter->set_name(std::string(kName));
  PackTcpMetadataExchange(features, filter->mutable_typed_config());
}

void AddAccessFilters(const EncodedFragments& fragments, TrafficClass traffic, uint32_t port,
                      FilterChain* out) {
  out->MergeFromString(fragments.CustomAccess(traffic));
  AddPlugins(fragments, {Phase::kAuthn, Phase::kAuthz}, traffic, port, out);
  out->MergeFromString(fragments.LocalAccess(traffic));
  AddPlugins(fragments, {Phase::kStats, Phase::kUnspecified}, traffic, port, out);
}

void AddNetworkPlugins(const EncodedFragments& fragments, TrafficClass traffic, uint32_t port,
                       FilterChain* out) {
  AddPlugins(fragments, {Phase::kAuthn, Phase::kAuthz, Phase::kStats, Phase::kUnspecified}, traffic, port,
             out);
}

void AddHttpFilters(const EncodedFragments& fragments, const HttpOptions& options, const std::string& route,
                    FilterChain* out) {
  using envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager;
  auto* filter = out->add_filters();
  filter->set_name("envoy.filters.network.http_connection_manager");
  auto* any = filter->mutable_typed_config();
  any->set_type_url(StrCat("type.googleapis.com/", HttpConnectionManager::descriptor()->full_name()));
  std::string value = fragments.ConnectionManager(options);
  value.append(route);
  any->set_value(std::move(value));
}

}  // namespace fairlead::gen::listener
