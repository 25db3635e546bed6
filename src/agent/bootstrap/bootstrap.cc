#include "agent/bootstrap/bootstrap.h"

#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "agent/bootstrap/clusters.h"
#include "agent/bootstrap/envoy_program.h"
#include "agent/bootstrap/json_parts.h"
#include "agent/bootstrap/listeners.h"
#include "agent/bootstrap/node.h"
#include "agent/bootstrap/statistics.h"
#include "agent/bootstrap/workload_addresses.h"
#include "base/files.h"
#include "base/json.h"
#include "base/strings.h"

namespace fairlead::agent {
namespace {

using nlohmann::json;

constexpr char kConnections[] = "overload.global_downstream_max_connections";

json DynamicResources(const Options& options) {
  const bool delta = options.delta || options.type == "waypoint";
  return {{"lds_config", OverAds()},
          {"cds_config", OverAds()},
          {"ads_config",
           {{"api_type", delta ? "DELTA_GRPC" : "GRPC"},
            {"set_node_on_first_message_only", true},
            {"transport_api_version", "V3"},
            {"grpc_services", json::array({{{"envoy_grpc", {{"cluster_name", "xds-grpc"}}}}})}}}};
}

json LogFormat(const Options& options) {
  if (!options.own_log.as_json)
    return {{"text_format", "%Y-%m-%dT%T.%fZ\t%l\tenvoy %n %g:%#\t%v\tthread=%t"}};
  return {{"json_format",
           {{"time", "%Y-%m-%dT%T.%fZ"},
            {"level", "%l"},
            {"scope", "envoy %n"},
            {"msg", "%j"},
            {"caller", "%g:%#"},
            {"thread", "%t"}}}};
}

json Admin(const Options& options, const std::string& localhost) {
  const json log = {
      {"name", "envoy.access_loggers.file"},
      {"typed_config",
       {{"@type", TypeUrl("envoy.extensions.access_loggers.file.v3.FileAccessLog")}, {"path", "/dev/null"}}}};
  return {{"access_log", json::array({log})},
          {"profile_path", "/var/lib/istio/data/envoy.prof"},
          {"address", {{"socket_address", {{"address", localhost}, {"port_value", options.admin_port}}}}}};
}

// Istio's defaults under the ProxyConfig's runtimeValues, of which an empty one takes a default away.
json RuntimeValues(const Options& options) {
  json values = {
      {"re2.max_program_size.error_level", "32768"},
      {"envoy.deprecated_features:envoy.config.listener.v3.Listener.hidden_envoy_deprecated_use_original_dst",
       true},
      {"envoy.reloadable_features.http_reject_path_with_fragment", false},
      {"envoy.reloadable_features.fixed_heap_use_allocated", true},
      {"envoy.reloadable_features.coalesce_lb_rebuilds_on_batch_update", false}};
  if (options.compliance == "fips-140-2")
    values["envoy.reloadable_features.google_grpc_disable_tls_13"] = true;
  if (!options.rejects_fragments)
    values["envoy.reloadable_features.http_strip_fragment_from_path_unsafe_if_disabled"] = "false";
  const json& own = MemberAt(options.proxy_config, {"runtimeValues"});
  if (!own.is_object()) return values;
  for (const auto& [key, value] : own.items()) {
    if (value == "") {
      values.erase(key);
    } else if (value == "true" || value == "false") {
      values[key] = value == "true";
    } else {
      values[key] = value;
    }
  }
  return values;
}

// As Go reads one, which may begin with '+'.
std::optional<int64_t> WholeNumber(std::string_view text) {
  int64_t number = 0;
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Unlimited unless the ProxyConfig says otherwise, at one of three places.
int64_t MostConnections(const Options& options) {
  const json& set = MemberAt(options.proxy_config, {"connectionSettings", "globalDownstreamConnectionLimit"});
  if (set.is_number_integer() && set.get<int64_t>() > 0) return set.get<int64_t>();
  const auto told = WholeNumber(JsonString(MemberAt(options.proxy_config, {"proxyMetadata"}),
                                           "ISTIO_META_GLOBAL_DOWNSTREAM_MAX_CONNECTIONS"));
  if (told) return *told;
  return WholeNumber(JsonString(MemberAt(options.proxy_config, {"runtimeValues"}), kConnections))
      .value_or(std::numeric_limits<int32_t>::max());
}

json OverloadManager(const Options& options) {
  const json monitor = {
      {"name", "envoy.resource_monitors.global_downstream_max_connections"},
      {"typed_config",
       {{"@type",
         TypeUrl("envoy.extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig")},
        {"max_active_downstream_connections", MostConnections(options)}}}};
  return {{"resource_monitors", json::array({monitor})}};
}

json Extension(std::string_view name, std::string_view type, json value) {
  return {{"name", name},
          {"typed_config",
           {{"@type", TypeUrl("udpa.type.v1.TypedStruct")},
            {"type_url", TypeUrl(type)},
            {"value", std::move(value)}}}};
}

json Extensions(const Options& options) {
  json extensions = json::array();
  if (DiscoversPeers(options))
    extensions.push_back(Extension("metadata_discovery", "istio.workload.BootstrapExtension",
                                   {{"config_source", {{"ads", json::object()}}}}));
  extensions.push_back(Extension("envoy.bootstrap.internal_listener",
                                 "envoy.extensions.bootstrap.internal_listener.v3.InternalListener",
                                 {{"buffer_size_kb", 64}}));
  return extensions;
}

// Null where nothing of it is asked for.
json ClusterManager(const Options& options) {
  json manager = json::object();
  if (JsonString(options.metadata, "ENABLE_SELF_DISCOVERY") == "true")
    manager["local_cluster_name"] = "local_cluster";
  if (!options.outlier_log_path.empty())
    manager["outlier_detection"] = {{"event_log_path", options.outlier_log_path}};
  const auto load = ParseJson(JsonString(options.metadata, "LOAD_STATS_CONFIG_JSON"));
  if (load) manager["load_stats_config"] = *load;
  if (manager.empty()) return {};
  manager["enable_deferred_cluster_creation"] = true;
  return manager;
}

}  // namespace

absl::Status CheckBootstrap(const Options& options) {
  if (!MemberAt(options.proxy_config, {"tracing", "stackdriver"}).is_null() &&
      MemberAt(options.metadata, {"PLATFORM_METADATA", "gcp_project"}).is_null())
    return absl::FailedPreconditionError(
        "ProxyConfig: tracing.stackdriver: the project is not known; GCP_METADATA names it");
  return absl::OkStatus();
}

std::string BootstrapFile(const Options& options) {
  return CleanPath(StrCat(options.config_folder, "/envoy-rev.json"));
}

json BuildBootstrap(const Options& options) {
  const std::string localhost = ReachOf(options.addresses, options.dual_stack).localhost;
  json bootstrap = {
      {"application_log_config", {{"log_format", LogFormat(options)}}},
      {"node", BuildNode(options)},
      {"layered_runtime",
       {{"layers", json::array({{{"name", "global config"}, {"static_layer", RuntimeValues(options)}},
                                {{"name", "admin"}, {"admin_layer", json::object()}}})}}},
      {"bootstrap_extensions", Extensions(options)},
      {"admin", Admin(options, localhost)},
      {"dynamic_resources", DynamicResources(options)},
      {"static_resources",
       {{"clusters", BootstrapClusters(options)}, {"listeners", BootstrapListeners(options)}}},
      {"overload_manager", OverloadManager(options)},
      {"deferred_stat_options", {{"enable_deferred_creation_stats", true}}}};
  AddStatistics(options, &bootstrap);
  if (json tracing = BootstrapTracing(options); !tracing.is_null()) bootstrap["tracing"] = std::move(tracing);
  if (json manager = ClusterManager(options); !manager.is_null())
    bootstrap["cluster_manager"] = std::move(manager);
  return bootstrap;
}

}  // namespace fairlead::agent
