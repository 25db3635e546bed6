#include "agent/bootstrap/listeners.h"

#include <string>
#include <string_view>
#include <utility>

#include "agent/bootstrap/json_parts.h"
#include "agent/bootstrap/secret_configs.h"
#include "agent/bootstrap/workload_addresses.h"
#include "base/json.h"
#include "base/strings.h"

namespace fairlead::agent {
namespace {

using nlohmann::json;

constexpr std::string_view kManager = "envoy.filters.network.http_connection_manager";

json Filter(std::string_view name, std::string_view type, json config = json::object()) {
  config["@type"] = TypeUrl(type);
  return {{"name", name}, {"typed_config", std::move(config)}};
}

json Router() {
  return Filter("envoy.filters.http.router", "envoy.extensions.filters.http.router.v3.Router");
}

json Compressor(const std::string& kind, std::string_view type) {
  return Filter(StrCat("envoy.filters.http.compressor.", kind),
                "envoy.extensions.filters.http.compressor.v3.Compressor",
                {{"compressor_library", Filter(StrCat("stats_", kind), type)},
                 {"response_direction_config",
                  {{"common_config",
                    {{"content_type", json::array({"text/plain", "application/vnd.google.protobuf",
                                                   "application/openmetrics-text",
                                                   "application/openmetrics-protobuf"})}}}}}});
}

json Route(std::string_view prefix, std::string_view cluster) {
  return {{"match", {{"prefix", prefix}}}, {"route", {{"cluster", cluster}}}};
}

// The connection manager of requests that go to a cluster of the bootstrap.
json Manager(std::string_view stat_prefix, json routes, json http_filters) {
  const json host = {{"name", "backend"}, {"domains", json::array({"*"})}, {"routes", std::move(routes)}};
  return Filter(kManager, "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
                {{"codec_type", "AUTO"},
                 {"stat_prefix", stat_prefix},
                 {"route_config", {{"virtual_hosts", json::array({host})}}},
                 {"http_filters", std::move(http_filters)}});
}

// `other`: a second address; "": none.
json Listener(const std::string& address, const std::string& other, int port, json chain) {
  json listener = {{"name", StrCat(address, "_", port)},
                   {"address", SocketAddress(address, port)},
                   {"ignore_global_conn_limit", true},
                   {"bypass_overload_manager", true},
                   {"filter_chains", json::array({std::move(chain)})}};
  if (!other.empty())
    listener["additionalAddresses"] = json::array({{{"address", SocketAddress(other, port)}}});
  return listener;
}

json Chain(json filter) { return {{"filters", json::array({std::move(filter)})}}; }

json PrometheusListener(const Options& options, const Reach& reach) {
  json filters = json::array();
  if (MemberAt(options.proxy_config, {"statsCompression"}) != json(false)) {
    filters.push_back(Compressor("brotli", "envoy.extensions.compression.brotli.compressor.v3.Brotli"));
    filters.push_back(Compressor("zstd", "envoy.extensions.compression.zstd.compressor.v3.Zstd"));
    filters.push_back(Compressor("gzip", "envoy.extensions.compression.gzip.compressor.v3.Gzip"));
  }
  filters.push_back(Router());
  const bool local = JsonString(MemberAt(options.proxy_config, {"proxyMetadata"}),
                                "METRICS_LOCALHOST_ACCESS_ONLY") == "true";
  return Listener(local ? reach.localhost : reach.wildcard,
                  local ? reach.other_localhost : reach.other_wildcard, options.prometheus_port,
                  Chain(Manager("stats", json::array({Route("/stats/prometheus", "prometheus_stats")}),
                                std::move(filters))));
}

json SecureListener(const Reach& reach, int port, std::string_view stat_prefix, json routes) {
  json chain = Chain(Manager(stat_prefix, std::move(routes), json::array({Router()})));
  chain["filter_chain_match"] = {{"transport_protocol", "tls"}};
  chain["transport_socket"] = MutualTls();
  json listener = Listener(reach.wildcard, "", port, std::move(chain));
  listener["listener_filters"] =
      json::array({Filter("envoy.filters.listener.tls_inspector",
                          "envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector")});
  return listener;
}

json StatusListener(const Options& options, const Reach& reach) {
  json listener = Listener(
      reach.wildcard, reach.other_wildcard, options.envoy_status_port,
      Chain(Manager("agent", json::array({Route("/healthz/ready", "agent")}), json::array({Router()}))));
  if (options.status_proxy_protocol)
    listener["listener_filters"] = json::array({Filter(
        "envoy.listener.proxy_protocol", "envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol",
        {{"allow_requests_without_proxy_protocol", true}})});
  return listener;
}

}  // namespace

json BootstrapListeners(const Options& options) {
  const Reach reach = ReachOf(options.addresses, options.dual_stack);
  json listeners = json::array();
  if (options.prometheus_port != 0) listeners.push_back(PrometheusListener(options, reach));
  if (options.secure_metrics_port != 0)
    listeners.push_back(SecureListener(reach, options.secure_metrics_port, "secure_stats",
                                       json::array({Route("/stats/prometheus", "prometheus_stats")})));
  if (options.status_port == 0) return listeners;
  if (options.secure_merged_metrics_port != 0)
    listeners.push_back(
        SecureListener(reach, options.secure_merged_metrics_port, "secure_merged_stats",
                       json::array({Route("/stats/prometheus", "agent"), Route("/metrics", "agent")})));
  if (options.envoy_status_port != 0) listeners.push_back(StatusListener(options, reach));
  return listeners;
}

}  // namespace fairlead::agent
