#include <algorithm>
#include <iterator>
#include <set>

#include "config/check/check.h"
#include "config/check/parts.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"

// Deprecated fields are checked as well.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace fairlead::config::check {
namespace {

using istio::mesh::v1alpha1::MeshConfig;
using istio::mesh::v1alpha1::PrivateKeyProvider;
using istio::mesh::v1alpha1::ProxyConfig;
using istio::mesh::v1alpha1::Tracing;

// BoringSSL's key shares.
constexpr std::string_view kCurves[] = {
    "", "P-224", "P-256", "P-521", "P-384", "X25519", "X25519Kyber768Draft00", "X25519MLKEM768"};

void CheckAddress(const std::string& address, const Spot& at) {
  if (!address.empty()) at.Refuse(HostAndPortProblem(address));
}

// $(HOST_IP) is filled in where the proxy runs.
std::string WithHost(const std::string& address) {
  const size_t at = address.find("$(HOST_IP)");
  return at == std::string::npos ? address : std::string(address).replace(at, 10, "127.0.0.1");
}

void CheckTracing(const Tracing& tracing, const Spot& at) {
  const Spot lightstep(at, "lightstep"), zipkin(at, "zipkin"), datadog(at, "datadog");
  if (tracing.has_lightstep()) {
    lightstep.Field("address").Refuse(HostAndPortProblem(tracing.lightstep().address()));
    if (tracing.lightstep().access_token().empty())
      lightstep.Field("accessToken").Error("missing-field", "this field is required");
  }
  if (tracing.has_zipkin())
    zipkin.Field("address").Refuse(HostAndPortProblem(WithHost(tracing.zipkin().address())));
  if (tracing.has_datadog())
    datadog.Field("address").Refuse(HostAndPortProblem(WithHost(tracing.datadog().address())));
  if (tracing.has_tls_settings()) CheckClientTls(tracing.tls_settings(), "", Spot(at, "tlsSettings"));
}

void CheckPollDelay(bool set, const google::protobuf::Duration& delay, const Spot& at) {
  if (!set || (delay.seconds() == 0 && delay.nanos() == 0))
    at.Field("pollDelay").Error("missing-field", "a delay other than 0 is required");
}

void CheckKeyProvider(const PrivateKeyProvider& provider, const Spot& at) {
  if (provider.has_cryptomb())
    return CheckPollDelay(provider.cryptomb().has_poll_delay(), provider.cryptomb().poll_delay(),
                          Spot(at, "cryptomb"));
  if (provider.has_qat())
    return CheckPollDelay(provider.qat().has_poll_delay(), provider.qat().poll_delay(), Spot(at, "qat"));
  at.Error("missing-field", "a provider, cryptomb or qat, is required");
}

void CheckConnectionSettings(const ProxyConfig& proxy, const Spot& at) {
  const auto& settings = proxy.connection_settings();
  const auto least = [&](bool set, int64_t value, int64_t bound, std::string_view name) {
    if (set && value < bound) at.Field(name).Error("out-of-range", StrCat("the number is at least ", bound));
  };
  const auto duration = [&](bool set, const google::protobuf::Duration& value, std::string_view name) {
    if (set && Nanoseconds(value) < 0)
      at.Field(name).Error("out-of-range", "the duration may not be negative");
  };
  constexpr int64_t kWindow = 65535;
  const auto& s = settings;
  least(s.has_listener_per_connection_buffer_limit_bytes(),
        s.listener_per_connection_buffer_limit_bytes().value(), 0, "listenerPerConnectionBufferLimitBytes");
  least(s.has_cluster_per_connection_buffer_limit_bytes(),
        s.cluster_per_connection_buffer_limit_bytes().value(), 0, "clusterPerConnectionBufferLimitBytes");
  least(s.has_http_max_concurrent_streams(), s.http_max_concurrent_streams().value(), 1,
        "httpMaxConcurrentStreams");
  least(s.has_http2_initial_stream_window_size(), s.http2_initial_stream_window_size().value(), kWindow,
        "http2InitialStreamWindowSize");
  least(s.has_http2_initial_connection_window_size(), s.http2_initial_connection_window_size().value(),
        kWindow, "http2InitialConnectionWindowSize");
  least(s.has_listener_connection_limit(), s.listener_connection_limit().value(), 1,
        "listenerConnectionLimit");
  least(s.has_global_downstream_connection_limit(), s.global_downstream_connection_limit().value(), 1,
        "globalDownstreamConnectionLimit");
  duration(s.has_http_idle_timeout(), s.http_idle_timeout(), "httpIdleTimeout");
  duration(s.has_http_max_connection_duration(), s.http_max_connection_duration(),
           "httpMaxConnectionDuration");
  duration(s.has_http_drain_timeout(), s.http_drain_timeout(), "httpDrainTimeout");
  duration(s.has_http_request_timeout(), s.http_request_timeout(), "httpRequestTimeout");
  duration(s.has_http_request_headers_timeout(), s.http_request_headers_timeout(),
           "httpRequestHeadersTimeout");
  duration(s.has_http_stream_idle_timeout(), s.http_stream_idle_timeout(), "httpStreamIdleTimeout");
  duration(s.has_http_max_stream_duration(), s.http_max_stream_duration(), "httpMaxStreamDuration");
}

void CheckProxy(const ProxyConfig& proxy, const Spot& at) {
  const auto require = [&](const std::string& text, std::string_view name) {
    if (text.empty()) at.Field(name).Error("missing-field", "this field is required");
  };
  require(proxy.config_path(), "configPath");
  require(proxy.binary_path(), "binaryPath");
  require(proxy.discovery_address(), "discoveryAddress");
  if (!proxy.has_tracing_service_name()) require(proxy.service_cluster(), "serviceCluster");
  const Spot drain(at, "drainDuration");
  CheckDuration(proxy.drain_duration(), drain);
  if (proxy.drain_duration().nanos() != 0) drain.Refuse("the duration has whole seconds");
  CheckAddress(proxy.discovery_address(), Spot(at, "discoveryAddress"));
  CheckAddress(proxy.statsd_udp_address(), Spot(at, "statsdUdpAddress"));
  CheckAddress(proxy.envoy_metrics_service_address(), Spot(at, "envoyMetricsServiceAddress"));
  CheckAddress(proxy.envoy_metrics_service().address(), Spot(at, "envoyMetricsService"));
  CheckAddress(proxy.envoy_access_log_service().address(), Spot(at, "envoyAccessLogService"));
  if (proxy.has_tracing()) CheckTracing(proxy.tracing(), Spot(at, "tracing"));
  const Spot metadata(at, "proxyMetadata");
  if (proxy.proxy_metadata().contains("ISTIO_META_DNS_AUTO_ALLOCATE"))
    metadata.Field("ISTIO_META_DNS_AUTO_ALLOCATE").Warn("deprecated", "addresses are allocated without this");
  at.Field("proxyAdminPort").Refuse(PortProblem(proxy.proxy_admin_port()));
  at.Field("statusPort").Refuse(PortProblem(proxy.status_port()));
  using istio::mesh::v1alpha1::AuthenticationPolicy;
  if (proxy.control_plane_auth_policy() != AuthenticationPolicy::NONE &&
      proxy.control_plane_auth_policy() != AuthenticationPolicy::MUTUAL_TLS) {
    at.Field("controlPlaneAuthPolicy").Refuse("the policy is NONE or MUTUAL_TLS");
  }
  if (proxy.has_private_key_provider())
    CheckKeyProvider(proxy.private_key_provider(), Spot(at, "privateKeyProvider"));
  if (proxy.has_connection_settings()) CheckConnectionSettings(proxy, Spot(at, "connectionSettings"));
}

void CheckTlsDefaults(const MeshConfig& mesh, const Spot& at) {
  std::set<std::string_view> seen;
  const Spot curves(at, "ecdhCurves");
  for (const std::string& curve : mesh.tls_defaults().ecdh_curves()) {
    if (std::find(std::begin(kCurves), std::end(kCurves), curve) == std::end(kCurves)) {
      curves.Warn("no-effect", StrCat("unknown curve \"", curve, "\""));
    } else if (!seen.insert(curve).second) {
      curves.Warn("no-effect", StrCat("curve \"", curve, "\" is there twice"));
    }
  }
}

void CheckTrust(const MeshConfig& mesh, const Spot& root) {
  root.Field("trustDomain").Refuse(TrustDomainProblem(mesh.trust_domain()));
  for (const std::string& alias : mesh.trust_domain_aliases())
    root.Field("trustDomainAliases").Refuse(TrustDomainProblem(alias));
}

void CheckTraffic(const MeshConfig& mesh, const Spot& root) {
  const Spot services(root, "serviceSettings"), policy(root, "defaultTrafficPolicy");
  for (int i = 0; i < mesh.service_settings_size(); ++i) {
    const Spot here(services, static_cast<size_t>(i));
    for (const std::string& host : mesh.service_settings(i).hosts())
      here.Field("hosts").Refuse(WildcardDomainProblem(host));
  }
  if (mesh.has_locality_lb_setting())
    CheckLocalityLb(mesh.locality_lb_setting(), true, Warnings::kLost, Spot(root, "localityLbSetting"));
  if (mesh.has_zone_aware_lb_setting())
    CheckZoneAwareLb(mesh.zone_aware_lb_setting(), true, Warnings::kLost, Spot(root, "zoneAwareLbSetting"));
  if (mesh.default_traffic_policy().has_connection_pool())
    CheckConnectionPool(mesh.default_traffic_policy().connection_pool(), Spot(policy, "connectionPool"),
                        false);
  if (mesh.default_traffic_policy().has_outlier_detection())
    CheckOutlierDetection(mesh.default_traffic_policy().outlier_detection(), Warnings::kLost,
                          Spot(policy, "outlierDetection"));
}

// Of the routes to a sidecar's own workload: there is one endpoint to try.
void CheckInboundRetries(const net::HTTPRetry& retries, const Spot& at) {
  CheckRetries(retries, at);
  if (retries.attempts() == 0 && retries.has_backoff())
    at.Field("backoff").Error("conflict", "attempts: 0 means no retries, so nothing else is set");
  const auto ignored = [&](bool set, std::string_view name) {
    if (set) at.Field(name).Warn("no-effect", "this means nothing for inbound requests");
  };
  ignored(retries.has_per_try_timeout(), "perTryTimeout");
  ignored(retries.has_retry_remote_localities(), "retryRemoteLocalities");
  ignored(retries.has_retry_ignore_previous_hosts(), "retryIgnorePreviousHosts");
}

}  // namespace

void CheckMeshConfig(const MeshConfig& mesh, Node document, Report& report) {
  constexpr int64_t kLongestConnect = 3'600'000'000'000;
  const ObjectMeta none;
  const Subject subject{report, document, none};
  const Spot root(subject);
  root.Field("proxyListenPort").Refuse(PortProblem(mesh.proxy_listen_port()));
  CheckDuration(mesh.connect_timeout(), Spot(root, "connectTimeout"));
  if (Nanoseconds(mesh.connect_timeout()) > kLongestConnect)
    root.Field("connectTimeout").Error("out-of-range", "the timeout is at most 1h");
  if (mesh.protocol_detection_timeout().nanos() % 1'000'000 != 0)
    root.Field("protocolDetectionTimeout").Refuse("a duration has whole milliseconds");
  CheckProxy(mesh.default_config(), Spot(root, "defaultConfig"));
  CheckTrust(mesh, root);
  const Spot mtls(root, "meshMTLS");
  if (mesh.mesh_mtls().ecdh_curves_size() > 0)
    mtls.Field("ecdhCurves").Error("unsupported", "curves are set in tlsDefaults");
  CheckTlsDefaults(mesh, Spot(root, "tlsDefaults"));
  CheckTraffic(mesh, root);
  if (mesh.has_default_inbound_http_retry_policy())
    CheckInboundRetries(mesh.default_inbound_http_retry_policy(),
                        Spot(root, "defaultInboundHttpRetryPolicy"));
}

}  // namespace fairlead::config::check
