#include "agent/bootstrap.h"

#include <arpa/inet.h>

#include "base/json.h"
#include "base/strings.h"

namespace fairlead::agent {
namespace {

using nlohmann::json;

constexpr std::string_view kHttpOptions = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
constexpr std::string_view kConnectionManager =
    "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

std::string TypeUrl(std::string_view message) { return StrCat("type.googleapis.com/", message); }

bool IsIpAddress(const std::string& host) {
  in6_addr any;
  return inet_pton(AF_INET, host.c_str(), &any) == 1 || inet_pton(AF_INET6, host.c_str(), &any) == 1;
}

bool OnlyIpv6(const Options& options) {
  for (const std::string& address : options.addresses) {
    if (address.find(':') == std::string::npos) return false;
  }
  return !options.addresses.empty();
}

json SocketAddress(std::string_view address, int port) {
  return {{"socket_address", {{"address", address}, {"port_value", port}}}};
}

json LoadAssignment(std::string_view cluster, json address) {
  return {{"cluster_name", cluster},
          {"endpoints",
           json::array({{{"lb_endpoints", json::array({{{"endpoint", {{"address", address}}}}})}}})}};
}

json AgentSecret(std::string_view name) {
  return {{"name", name},
          {"sds_config",
           {{"resource_api_version", "V3"},
            {"initial_fetch_timeout", "0s"},
            {"api_config_source",
             {{"api_type", "GRPC"},
              {"transport_api_version", "V3"},
              {"set_node_on_first_message_only", true},
              {"grpc_services", json::array({{{"envoy_grpc", {{"cluster_name", "sds-grpc"}}}}})}}}}}};
}

// The workload shows its own certificate to the control plane, and wants one that its roots vouch for.
json DiscoveryTls(const Options& options, const std::string& host) {
  constexpr std::string_view kContext = "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext";
  const std::string name = options.server_name.empty() ? host : options.server_name;
  const json san = {{"san_type", IsIpAddress(name) ? "IP_ADDRESS" : "DNS"}, {"matcher", {{"exact", name}}}};
  json context = {
      {"@type", TypeUrl(kContext)},
      {"common_tls_context",
       {{"alpn_protocols", json::array({"h2"})},
        {"tls_params",
         {{"tls_minimum_protocol_version", "TLSv1_2"}, {"tls_maximum_protocol_version", "TLSv1_3"}}},
        {"tls_certificate_sds_secret_configs", json::array({AgentSecret("default")})},
        {"combined_validation_context",
         {{"default_validation_context", {{"match_typed_subject_alt_names", json::array({san})}}},
          {"validation_context_sds_secret_config", AgentSecret("ROOTCA")}}}}}};
  if (!IsIpAddress(name)) context["sni"] = name;
  return {{"name", "envoy.transport_sockets.tls"}, {"typed_config", context}};
}

json DiscoveryCluster(const Options& options) {
  const auto [host, port] = SplitAddress(options.discovery_address);
  const bool relayed = !options.relay_socket.empty();
  const json address =
      relayed ? json({{"pipe", {{"path", options.relay_socket}}}}) : SocketAddress(host, port);
  const json thresholds = {
      {"max_connections", 100000}, {"max_pending_requests", 100000}, {"max_requests", 100000}};
  json high = thresholds, usual = thresholds;
  high["priority"] = "HIGH";
  usual["priority"] = "DEFAULT";
  json cluster = {
      {"name", "xds-grpc"},
      {"alt_stat_name", "xds-grpc;"},
      {"type", relayed || IsIpAddress(host) ? "STATIC" : "STRICT_DNS"},
      {"connect_timeout", "1s"},
      {"lb_policy", "ROUND_ROBIN"},
      {"load_assignment", LoadAssignment("xds-grpc", address)},
      {"circuit_breakers", {{"thresholds", json::array({usual, high})}}},
      {"upstream_connection_options", {{"tcp_keepalive", {{"keepalive_time", 300}}}}},
      {"typed_extension_protocol_options",
       {{kHttpOptions,
         {{"@type", TypeUrl(kHttpOptions)},
          // Pings find a control plane that vanished without closing the connection.
          {"explicit_http_config",
           {{"http2_protocol_options",
             {{"connection_keepalive", {{"interval", "30s"}, {"timeout", "10s"}}}}}}}}}}},
  };
  if (options.tls && !relayed) cluster["transport_socket"] = DiscoveryTls(options, host);
  if (cluster["type"] == "STRICT_DNS") {
    cluster["respect_dns_ttl"] = true;
    cluster["dns_lookup_family"] = OnlyIpv6(options) ? "V6_ONLY" : "V4_PREFERRED";
  }
  return cluster;
}

json LocalCluster(std::string_view name, std::string_view localhost, int port) {
  return {{"name", name},
          {"alt_stat_name", StrCat(name, ";")},
          {"type", "STATIC"},
          {"connect_timeout", "0.250s"},
          {"lb_policy", "ROUND_ROBIN"},
          {"load_assignment", LoadAssignment(name, SocketAddress(localhost, port))}};
}

// The workload's certificates come from the agent's own SDS socket, the place where Istio's proxies expect
// it.
json SecretCluster(const Options& options) {
  const json address = {{"pipe", {{"path", options.secret_socket}}}};
  return {{"name", "sds-grpc"},
          {"alt_stat_name", "sds-grpc;"},
          {"type", "STATIC"},
          {"connect_timeout", "1s"},
          {"load_assignment", LoadAssignment("sds-grpc", address)},
          {"typed_extension_protocol_options",
           {{kHttpOptions,
             {{"@type", TypeUrl(kHttpOptions)},
              {"explicit_http_config", {{"http2_protocol_options", json::object()}}}}}}}};
}

// Envoy's metrics for a Prometheus server, without the rest of the administration interface.
json PrometheusListener(const Options& options) {
  const json route = {{"match", {{"prefix", "/stats/prometheus"}}},
                      {"route", {{"cluster", "prometheus_stats"}}}};
  const json manager = {
      {"@type", TypeUrl(kConnectionManager)},
      {"codec_type", "AUTO"},
      {"stat_prefix", "stats"},
      {"route_config",
       {{"virtual_hosts",
         json::array(
             {{{"name", "backend"}, {"domains", json::array({"*"})}, {"routes", json::array({route})}}})}}},
      {"http_filters",
       json::array(
           {{{"name", "envoy.filters.http.router"},
             {"typed_config", {{"@type", TypeUrl("envoy.extensions.filters.http.router.v3.Router")}}}}})}};
  const std::string wildcard = OnlyIpv6(options) ? "::" : "0.0.0.0";
  const json filter = {{"name", "envoy.filters.network.http_connection_manager"}, {"typed_config", manager}};
  return {{"name", StrCat(wildcard, "_", options.prometheus_port)},
          {"address", SocketAddress(wildcard, options.prometheus_port)},
          {"ignore_global_conn_limit", true},
          {"bypass_overload_manager", true},
          {"filter_chains", json::array({{{"filters", json::array({filter})}}})}};
}

json DynamicResources(const Options& options) {
  const json over_ads = {
      {"ads", json::object()}, {"initial_fetch_timeout", "0s"}, {"resource_api_version", "V3"}};
  return {{"lds_config", over_ads},
          {"cds_config", over_ads},
          {"ads_config",
           {{"api_type", options.delta ? "DELTA_GRPC" : "GRPC"},
            {"set_node_on_first_message_only", true},
            {"transport_api_version", "V3"},
            {"grpc_services", json::array({{{"envoy_grpc", {{"cluster_name", "xds-grpc"}}}}})}}}};
}

// Says that connections are unlimited, which Envoy warns about where nothing is said.
json OverloadManager() {
  constexpr std::string_view kDownstream =
      "envoy.extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig";
  return {{"resource_monitors",
           json::array({{{"name", "envoy.resource_monitors.global_downstream_max_connections"},
                         {"typed_config",
                          {{"@type", TypeUrl(kDownstream)},
                           {"max_active_downstream_connections", "2147483647"}}}}})}};
}

// Tags are cut out of the statistics' names, which the control plane ends with ';' for that purpose.
json StatsTags() {
  json tags = json::array();
  const auto tag = [&tags](std::string_view name, std::string_view regex) {
    tags.push_back({{"tag_name", name}, {"regex", regex}});
  };
  tag("cluster_name", R"(^cluster(\.(.+);))");
  tag("http_conn_manager_prefix", R"(^http\.(([^;]*);\.))");
  tag("tcp_prefix", R"(^tcp\.((.*?)\.)\w+?$)");
  tag("response_code", R"(_rq(_(\d{3}))$)");
  tag("response_code_class", R"(_rq(_(\dxx))$)");
  tag("listener_address", R"(^listener\.(((?:[_.[:digit:]]*|[_\[\]aAbBcCdDeEfF[:digit:]]*))\.))");
  return tags;
}

}  // namespace

std::pair<std::string, int> SplitAddress(const std::string& text, int default_port) {
  const size_t colon = text.rfind(':');
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    const bool has_port = colon != std::string::npos && colon > end;
    return {text.substr(1, end - 1), has_port ? std::atoi(text.c_str() + colon + 1) : default_port};
  }
  if (colon == std::string::npos) return {text, default_port};
  return {text.substr(0, colon), std::atoi(text.c_str() + colon + 1)};
}

std::string NodeId(const Options& options) {
  const std::string address = options.addresses.empty() ? "127.0.0.1" : options.addresses.front();
  const std::string domain =
      options.domain.empty() ? StrCat(options.pod_namespace, ".svc.cluster.local") : options.domain;
  return StrCat(options.type, "~", address, "~", options.pod_name, ".", options.pod_namespace, "~", domain);
}

std::string ServiceCluster(const Options& options) {
  if (!options.service_cluster.empty()) return options.service_cluster;
  const json labels = options.metadata.value("LABELS", json::object());
  for (const char* key : {"app.kubernetes.io/name", "app"}) {
    if (labels.contains(key) && labels[key].is_string()) {
      return StrCat(labels[key].get<std::string>(), ".", options.pod_namespace);
    }
  }
  const std::string workload = JsonString(options.metadata, "WORKLOAD_NAME");
  return StrCat(workload.empty() ? "istio-proxy" : workload, ".", options.pod_namespace);
}

json BuildNode(const Options& options) {
  json node = {{"id", NodeId(options)}, {"cluster", ServiceCluster(options)}, {"metadata", options.metadata}};
  const auto parts = Split(options.locality, '/');
  if (options.locality.empty()) return node;
  json& locality = node["locality"];
  locality["region"] = parts[0];
  if (parts.size() > 1) locality["zone"] = parts[1];
  if (parts.size() > 2) locality["sub_zone"] = parts[2];
  return node;
}

json BuildBootstrap(const Options& options) {
  const std::string localhost = OnlyIpv6(options) ? "::1" : "127.0.0.1";
  json clusters = json::array({LocalCluster("prometheus_stats", localhost, options.admin_port),
                               SecretCluster(options), DiscoveryCluster(options)});
  json listeners = json::array();
  if (options.prometheus_port != 0) listeners.push_back(PrometheusListener(options));
  json runtime = {{"re2.max_program_size.error_level", "32768"}};
  runtime.update(options.runtime);
  return {{"node", BuildNode(options)},
          {"layered_runtime",
           {{"layers", json::array({{{"name", "global config"}, {"static_layer", runtime}},
                                    {{"name", "admin"}, {"admin_layer", json::object()}}})}}},
          {"overload_manager", OverloadManager()},
          {"stats_config", {{"use_all_default_tags", false}, {"stats_tags", StatsTags()}}},
          {"admin", {{"address", SocketAddress(localhost, options.admin_port)}}},
          {"dynamic_resources", DynamicResources(options)},
          {"static_resources", {{"clusters", clusters}, {"listeners", listeners}}}};
}

}  // namespace fairlead::agent
