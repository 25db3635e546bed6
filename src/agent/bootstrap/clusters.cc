#include "agent/bootstrap/clusters.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "agent/bootstrap/json_parts.h"
#include "agent/bootstrap/node.h"
#include "agent/bootstrap/secret_configs.h"
#include "agent/bootstrap/workload_addresses.h"
#include "base/files.h"
#include "base/ip_address.h"
#include "base/json.h"
#include "base/strings.h"

namespace fairlead::agent {
namespace {

using nlohmann::json;

constexpr char kFileSocket[] = "./var/run/secrets/credential-uds/files-socket";

json LoadAssignment(std::string_view cluster, json address) {
  return {
      {"cluster_name", cluster},
      {"endpoints",
       json::array({{{"lb_endpoints", json::array({{{"endpoint", {{"address", std::move(address)}}}}})}}})}};
}

// `keepalive`: http2_protocol_options.
json OverHttp2(json protocol = json::object()) {
  constexpr std::string_view kOptions = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
  json options = {{"@type", TypeUrl(kOptions)},
                  {"explicit_http_config", {{"http2_protocol_options", std::move(protocol)}}}};
  return {{std::string(kOptions), std::move(options)}};
}

json Cluster(std::string_view name, std::string_view type, std::string_view timeout, json address) {
  return {{"name", name},
          {"alt_stat_name", StrCat(name, ";")},
          {"type", type},
          {"connect_timeout", timeout},
          {"lb_policy", "ROUND_ROBIN"},
          {"load_assignment", LoadAssignment(name, std::move(address))}};
}

json LocalCluster(std::string_view name, const std::string& localhost, int port) {
  return Cluster(name, "STATIC", "0.250s", SocketAddress(localhost, port));
}

json SocketCluster(std::string_view name, const std::string& path) {
  json cluster = Cluster(name, "STATIC", "1s", {{"pipe", {{"path", path}}}});
  cluster["typed_extension_protocol_options"] = OverHttp2();
  return cluster;
}

void AddLimits(json* cluster) {
  json thresholds = json::array();
  for (const char* priority : {"DEFAULT", "HIGH"}) {
    thresholds.push_back({{"priority", priority},
                          {"max_connections", 100000},
                          {"max_pending_requests", 100000},
                          {"max_requests", 100000}});
  }
  (*cluster)["circuit_breakers"] = {{"thresholds", std::move(thresholds)}};
  (*cluster)["upstream_connection_options"] = {{"tcp_keepalive", {{"keepalive_time", 300}}}};
}

// Over the agent's socket, or straight to the control plane where no agent is between.
json DiscoveryCluster(const Options& options) {
  if (!options.relay_socket.empty()) {
    json cluster = SocketCluster("xds-grpc", options.relay_socket);
    AddLimits(&cluster);
    cluster["max_requests_per_connection"] = 1;
    return cluster;
  }
  const auto [host, port] = SplitAddress(options.discovery_address);
  json cluster =
      Cluster("xds-grpc", IsIpAddress(host) ? "STATIC" : "STRICT_DNS", "1s", SocketAddress(host, port));
  AddLimits(&cluster);
  // Pings find a control plane that vanished without closing the connection.
  cluster["typed_extension_protocol_options"] =
      OverHttp2({{"connection_keepalive", {{"interval", "30s"}, {"timeout", "10s"}}}});
  if (options.tls && !options.plaintext_discovery) cluster["transport_socket"] = DiscoveryTls(options, host);
  if (cluster["type"] == "STRICT_DNS") {
    cluster["respect_dns_ttl"] = true;
    cluster["dns_lookup_family"] = AllIpv6(options.addresses) ? "V6_ONLY" : "V4_PREFERRED";
  }
  return cluster;
}

// A server that the ProxyConfig names; none where its address is not written.
std::optional<json> RemoteCluster(const Options& options, std::string_view name, const std::string& address) {
  auto at = RemoteAddress(address, options.host_ip);
  if (!at) return std::nullopt;
  json cluster = Cluster(name, "STRICT_DNS", "1s", *std::move(at));
  cluster["respect_dns_ttl"] = true;
  cluster["dns_lookup_family"] = ReachOf(options.addresses, options.dual_stack).lookup_family;
  return cluster;
}

void AddTracer(const Options& options, json* clusters) {
  const json& tracing = MemberAt(options.proxy_config, {"tracing"});
  const auto add = [&](const char* tracer, const char* name, bool http2) {
    auto cluster = RemoteCluster(options, name, JsonString(MemberAt(tracing, {tracer}), "address"));
    if (!cluster) return false;
    json tls = RemoteTls(options, MemberAt(tracing, {"tlsSettings"}), "tracer", http2);
    if (!tls.is_null()) (*cluster)["transport_socket"] = std::move(tls);
    if (http2) (*cluster)["typed_extension_protocol_options"] = OverHttp2();
    if (std::string_view(tracer) == "zipkin") (*cluster)["dns_refresh_rate"] = "30s";
    clusters->push_back(*std::move(cluster));
    return true;
  };
  if (add("zipkin", "zipkin", false) || add("lightstep", "lightstep", true)) return;
  add("datadog", "datadog_agent", false);
}

// Envoy takes the wrapped numbers in this form.
json Keepalive(const json& settings) {
  json keepalive = json::object();
  const auto seconds = [&](const char* field) {
    const std::string text = JsonString(settings, field);  // "10s"
    return std::atoll(text.c_str());
  };
  const json& probes = MemberAt(settings, {"probes"});
  if (probes.is_number_integer() && probes.get<int64_t>() > 0)
    keepalive["keepalive_probes"] = {{"value", probes}};
  if (const auto time = seconds("time"); time > 0) keepalive["keepalive_time"] = {{"value", time}};
  if (const auto interval = seconds("interval"); interval > 0)
    keepalive["keepalive_interval"] = {{"value", interval}};
  return {{"tcp_keepalive", std::move(keepalive)}};
}

void AddService(const Options& options, const char* field, const char* name, const std::string& otherwise,
                json* clusters) {
  const json& service = MemberAt(options.proxy_config, {field});
  const std::string address = JsonString(service, "address");
  auto cluster = RemoteCluster(options, name, address.empty() ? otherwise : address);
  if (!cluster) return;
  (*cluster)["typed_extension_protocol_options"] = OverHttp2();
  json tls = RemoteTls(options, MemberAt(service, {"tlsSettings"}), name, /*http2=*/true);
  if (!tls.is_null()) (*cluster)["transport_socket"] = std::move(tls);
  const json& keepalive = MemberAt(service, {"tcpKeepalive"});
  if (keepalive.is_object()) (*cluster)["upstream_connection_options"] = Keepalive(keepalive);
  clusters->push_back(*std::move(cluster));
}

// The workload's own peers, for routing by zone.
json OwnPeers() {
  const json policy = {
      {"name", "envoy.load_balancing_policies.least_request"},
      {"typed_config",
       {{"@type", TypeUrl("envoy.extensions.load_balancing_policies.least_request.v3.LeastRequest")},
        {"locality_lb_config", {{"zone_aware_lb_config", {{"min_cluster_size", "1"}}}}}}}};
  return {{"name", "local_cluster"},
          {"alt_stat_name", "local_cluster;"},
          {"type", "EDS"},
          {"connect_timeout", "1s"},
          {"load_balancing_policy", {{"policies", json::array({{{"typed_extension_config", policy}}})}}},
          {"eds_cluster_config",
           {{"eds_config", {{"ads", json::object()}, {"resource_api_version", "V3"}}},
            {"service_name", "local_cluster"}}}};
}

}  // namespace

json BootstrapClusters(const Options& options) {
  const std::string localhost = ReachOf(options.addresses, options.dual_stack).localhost;
  json clusters = json::array({LocalCluster("prometheus_stats", localhost, options.admin_port)});
  if (options.status_port != 0) clusters.push_back(LocalCluster("agent", localhost, options.status_port));
  clusters.push_back(SocketCluster("sds-grpc", options.secret_socket));
  if (options.metadata.contains("file-credential"))
    clusters.push_back(SocketCluster("sds-files-grpc", kFileSocket));
  clusters.push_back(DiscoveryCluster(options));
  AddTracer(options, &clusters);
  AddService(options, "envoyMetricsService", "envoy_metrics_service",
             JsonString(options.proxy_config, "envoyMetricsServiceAddress"), &clusters);
  AddService(options, "envoyAccessLogService", "envoy_accesslog_service", "", &clusters);
  if (JsonString(options.metadata, "ENABLE_SELF_DISCOVERY") == "true") clusters.push_back(OwnPeers());
  return clusters;
}

std::string LightstepTokenFile(const Options& options) {
  return CleanPath(StrCat(options.config_folder, "/lightstep_access_token.txt"));
}

json BootstrapTracing(const Options& options) {
  const json& tracing = MemberAt(options.proxy_config, {"tracing"});
  const auto has = [&](const char* tracer) {
    return RemoteAddress(JsonString(MemberAt(tracing, {tracer}), "address"), options.host_ip).has_value();
  };
  const auto tracer = [](const char* name, json config) -> json {
    return {{"http", {{"name", name}, {"typed_config", std::move(config)}}}};
  };
  if (has("zipkin"))
    return tracer("envoy.tracers.zipkin", {{"@type", TypeUrl("envoy.config.trace.v3.ZipkinConfig")},
                                           {"collector_cluster", "zipkin"},
                                           {"collector_endpoint", "/api/v2/spans"},
                                           {"collector_endpoint_version", "HTTP_JSON"},
                                           {"trace_id_128bit", true},
                                           {"shared_span_context", false}});
  if (has("lightstep"))
    return tracer("envoy.tracers.lightstep", {{"@type", TypeUrl("envoy.config.trace.v3.LightstepConfig")},
                                              {"collector_cluster", "lightstep"},
                                              {"access_token_file", LightstepTokenFile(options)}});
  if (has("datadog"))
    return tracer("envoy.tracers.datadog", {{"@type", TypeUrl("envoy.config.trace.v3.DatadogConfig")},
                                            {"collector_cluster", "datadog_agent"},
                                            {"service_name", ServiceCluster(options)}});
  return {};
}

}  // namespace fairlead::agent
