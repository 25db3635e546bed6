#include <cmath>
#include <set>

#include "config/check/parts.h"

// Deprecated fields are checked as well.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace fairlead::config::check {
namespace {

using Hash = net::LoadBalancerSettings::ConsistentHashLB;

// As Envoy decides for a Maglev table.
bool IsPrime(uint64_t x) {
  if (x != 0 && x < 4) return true;
  if (x % 2 == 0) return false;
  for (uint64_t factor = 3; factor * factor <= x; factor += 2) {
    if (x % factor == 0) return false;
  }
  return true;
}

void CheckCookie(const Hash::HTTPCookie& cookie, const Spot& at) {
  if (cookie.name().empty()) at.Field("name").Error("missing-field", "the cookie's name is required");
  std::set<std::string_view> names;
  const Spot attributes(at, "attributes");
  for (int i = 0; i < cookie.attributes_size(); ++i) {
    const std::string& name = cookie.attributes(i).name();
    const Spot here(attributes, static_cast<size_t>(i));
    if (name.empty()) {
      here.Field("name").Error("missing-field", "the attribute's name is required");
    } else if (!names.insert(name).second) {
      here.Error("duplicate-item", StrCat("attribute \"", name, "\" is there twice"));
    }
  }
}

void CheckHash(const Hash& hash, Warnings warnings, const Spot& at) {
  if (hash.has_http_cookie()) CheckCookie(hash.http_cookie(), Spot(at, "httpCookie"));
  if (hash.minimum_ring_size() != 0) {
    const Spot size(at, "minimumRingSize");
    if (warnings == Warnings::kKept) size.Warn("deprecated", "use ringHash instead");
    if (hash.hash_algorithm_case() != Hash::HASH_ALGORITHM_NOT_SET)
      size.Error("conflict", "only one of minimumRingSize, ringHash and maglev may be set");
  }
  if (!hash.has_maglev()) return;
  const uint64_t size = hash.maglev().table_size();
  const Spot maglev(at, "maglev");
  if (size == 0 || size >= 5000011 || !IsPrime(size))
    maglev.Field("tableSize").Error("invalid-value", "the table's size is a prime number below 5000011");
}

void CheckWarmup(const net::WarmupConfiguration& warmup, const Spot& at) {
  if (!warmup.has_duration()) {
    at.Field("duration").Error("missing-field", "this field is required");
  } else {
    CheckDuration(warmup.duration(), Spot(at, "duration"));
  }
  if (warmup.minimum_percent().value() > 100)
    at.Field("minimumPercent").Error("out-of-range", "a percentage is in 0..100");
  if (warmup.has_aggression() && !(warmup.aggression().value() > 0))
    at.Field("aggression").Error("out-of-range", "the aggression is greater than 0");
}

void CheckLoadBalancer(const net::LoadBalancerSettings& lb, bool outlier, Warnings warnings, const Spot& at) {
  if (lb.has_consistent_hash()) CheckHash(lb.consistent_hash(), warnings, Spot(at, "consistentHash"));
  if (lb.has_locality_lb_setting() && lb.has_zone_aware_lb_setting())
    at.Error("conflict", "only one of localityLbSetting and zoneAwareLbSetting may be set");
  if (lb.has_locality_lb_setting())
    CheckLocalityLb(lb.locality_lb_setting(), outlier, warnings, Spot(at, "localityLbSetting"));
  if (lb.has_zone_aware_lb_setting())
    CheckZoneAwareLb(lb.zone_aware_lb_setting(), outlier, warnings, Spot(at, "zoneAwareLbSetting"));
  if (lb.has_warmup()) CheckWarmup(lb.warmup(), Spot(at, "warmup"));
}

// What policies of ports have as well.
template <typename Policy>
void CheckParts(const Policy& policy, Warnings warnings, const Spot& at) {
  if (policy.has_outlier_detection())
    CheckOutlierDetection(policy.outlier_detection(), warnings, Spot(at, "outlierDetection"));
  if (policy.has_connection_pool()) CheckConnectionPool(policy.connection_pool(), Spot(at, "connectionPool"));
  if (policy.has_load_balancer())
    CheckLoadBalancer(policy.load_balancer(), policy.has_outlier_detection(), warnings,
                      Spot(at, "loadBalancer"));
  if (policy.has_tls()) CheckClientTls(policy.tls(), at.meta().ns.str(), Spot(at, "tls"));
}

template <typename Policy>
bool HasParts(const Policy& policy) {
  return policy.has_outlier_detection() || policy.has_connection_pool() || policy.has_load_balancer() ||
         policy.has_tls();
}

void CheckPortPolicy(const net::TrafficPolicy::PortTrafficPolicy& policy, const Spot& at) {
  if (!policy.has_port()) at.Field("port").Error("missing-field", "this field is required");
  if (!HasParts(policy)) at.Error("missing-field", "a policy has at least one setting");
  CheckParts(policy, Warnings::kLost, at);
}

void CheckTunnel(const net::TrafficPolicy::TunnelSettings& tunnel, const Spot& at) {
  if (!tunnel.protocol().empty() && tunnel.protocol() != "CONNECT" && tunnel.protocol() != "POST")
    at.Field("protocol").Error("invalid-value", "a tunnel's protocol is CONNECT or POST");
  if (!IpAddressProblem(tunnel.target_host()).empty())
    at.Field("targetHost").Refuse(DomainProblem(tunnel.target_host()));
  at.Field("targetPort").Refuse(PortProblem(tunnel.target_port()));
}

void CheckKeepalive(const net::ConnectionPoolSettings::HTTPSettings::ConnectionKeepalive& keepalive,
                    const Spot& at) {
  if (!keepalive.has_interval()) at.Field("interval").Error("missing-field", "this field is required");
  if (!keepalive.has_timeout()) at.Field("timeout").Error("missing-field", "this field is required");
  if (keepalive.has_interval()) CheckDuration(keepalive.interval(), Spot(at, "interval"));
  if (keepalive.has_timeout()) CheckDuration(keepalive.timeout(), Spot(at, "timeout"));
}

void CheckHttpPool(const net::ConnectionPoolSettings::HTTPSettings& http, bool keepalive, const Spot& at) {
  CheckNotNegative(http.http1_max_pending_requests(), Spot(at, "http1MaxPendingRequests"));
  CheckNotNegative(http.http2_max_requests(), Spot(at, "http2MaxRequests"));
  CheckNotNegative(http.max_requests_per_connection(), Spot(at, "maxRequestsPerConnection"));
  CheckNotNegative(http.max_retries(), Spot(at, "maxRetries"));
  CheckNotNegative(http.max_concurrent_streams(), Spot(at, "maxConcurrentStreams"));
  if (http.has_idle_timeout()) CheckDuration(http.idle_timeout(), Spot(at, "idleTimeout"));
  if (http.h2_upgrade_policy() == net::ConnectionPoolSettings::HTTPSettings::UPGRADE &&
      http.use_client_protocol())
    at.Field("useClientProtocol").Error("conflict", "this goes not with h2UpgradePolicy UPGRADE");
  if (keepalive && http.has_http2_keep_alive())
    CheckKeepalive(http.http2_keep_alive(), Spot(at, "http2KeepAlive"));
}

void CheckTcpPool(const net::ConnectionPoolSettings::TCPSettings& tcp, const Spot& at) {
  CheckNotNegative(tcp.max_connections(), Spot(at, "maxConnections"));
  if (tcp.has_connect_timeout()) CheckDuration(tcp.connect_timeout(), Spot(at, "connectTimeout"));
  if (tcp.has_max_connection_duration())
    CheckDuration(tcp.max_connection_duration(), Spot(at, "maxConnectionDuration"));
  // Less than a millisecond means no timeout.
  if (tcp.has_idle_timeout() && Nanoseconds(tcp.idle_timeout()) / 1'000'000 != 0)
    CheckDuration(tcp.idle_timeout(), Spot(at, "idleTimeout"));
  if (!tcp.has_tcp_keepalive()) return;
  const Spot keepalive(at, "tcpKeepalive");
  if (tcp.tcp_keepalive().has_time()) CheckDuration(tcp.tcp_keepalive().time(), Spot(keepalive, "time"));
  if (tcp.tcp_keepalive().has_interval())
    CheckDuration(tcp.tcp_keepalive().interval(), Spot(keepalive, "interval"));
}

}  // namespace

void CheckConnectionPool(const net::ConnectionPoolSettings& pool, const Spot& at, bool http2_keepalive) {
  if (!pool.has_http() && !pool.has_tcp())
    at.Error("missing-field", "at least one of http and tcp must be set");
  if (pool.has_http()) CheckHttpPool(pool.http(), http2_keepalive, Spot(at, "http"));
  if (pool.has_tcp()) CheckTcpPool(pool.tcp(), Spot(at, "tcp"));
}

void CheckOutlierDetection(const net::OutlierDetection& outlier, Warnings warnings, const Spot& at) {
  if (outlier.has_base_ejection_time())
    CheckDuration(outlier.base_ejection_time(), Spot(at, "baseEjectionTime"));
  if (outlier.has_interval()) CheckDuration(outlier.interval(), Spot(at, "interval"));
  if (outlier.consecutive_errors() != 0 && warnings == Warnings::kKept)
    at.Field("consecutiveErrors")
        .Warn("deprecated", "use consecutiveGatewayErrors or consecutive5xxErrors instead");
  if (!outlier.split_external_local_origin_errors() &&
      outlier.consecutive_local_origin_failures().value() > 0) {
    at.Field("consecutiveLocalOriginFailures")
        .Error("conflict", "this wants splitExternalLocalOriginErrors: true");
  }
  CheckPercent(outlier.max_ejection_percent(), Spot(at, "maxEjectionPercent"));
  CheckPercent(outlier.min_health_percent(), Spot(at, "minHealthPercent"));
}

void CheckTrafficPolicy(const net::TrafficPolicy& policy, Warnings warnings, const Spot& at) {
  const bool empty = !HasParts(policy) && policy.port_level_settings().empty() && !policy.has_tunnel() &&
                     !policy.has_proxy_protocol() && !policy.has_retry_budget();
  if (empty) return at.Error("missing-field", "a policy has at least one setting");
  if (policy.has_tunnel() && policy.has_proxy_protocol())
    return at.Error("conflict", "only one of tunnel and proxyProtocol may be set");
  CheckParts(policy, warnings, at);
  const Spot ports(at, "portLevelSettings");
  for (int i = 0; i < policy.port_level_settings_size(); ++i)
    CheckPortPolicy(policy.port_level_settings(i), Spot(ports, static_cast<size_t>(i)));
  if (policy.has_tunnel()) CheckTunnel(policy.tunnel(), Spot(at, "tunnel"));
  const Spot proxy_protocol(at, "proxyProtocol");
  if (policy.proxy_protocol().version() != 0 && policy.proxy_protocol().version() != 1)
    proxy_protocol.Field("version").Error("unknown-value", "the version is V1 or V2");
}

}  // namespace fairlead::config::check
