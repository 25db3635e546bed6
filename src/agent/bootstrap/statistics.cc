#include "agent/bootstrap/statistics.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>

#include "agent/bootstrap/envoy_program.h"
#include "agent/bootstrap/json_parts.h"
#include "agent/bootstrap/proxy_config.h"
#include "base/json.h"
#include "base/strings.h"

// Source: pilot-agent's getStatsOptions and the template of its bootstrap.
namespace fairlead::agent {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr std::string_view kExtraTags = "sidecar.istio.io/extraStatTags";
constexpr std::string_view kPrefixes = "sidecar.istio.io/statsInclusionPrefixes";
constexpr std::string_view kSuffixes = "sidecar.istio.io/statsInclusionSuffixes";
constexpr std::string_view kRegexps = "sidecar.istio.io/statsInclusionRegexps";
constexpr std::string_view kBuckets = "sidecar.istio.io/statsHistogramBuckets";
constexpr std::string_view kFlush = "sidecar.istio.io/statsFlushInterval";
constexpr std::string_view kEviction = "sidecar.istio.io/statsEvictionInterval";

std::string Annotation(const Options& options, std::string_view name) {
  const auto found = options.annotations.find(std::string(name));
  return found == options.annotations.end() ? "" : found->second;
}

std::vector<std::string> Parts(const std::string& text) {
  std::vector<std::string> parts;
  for (const std::string_view part : Split(text, ',')) parts.emplace_back(part);
  return parts;
}

struct Tag {
  std::string_view name, regex;
};
// Tags are cut out of the statistics' names, which the control plane ends with ';' for that purpose.
constexpr Tag kFirstTags[] = {
    {"cluster_name", R"(^cluster(\.(.+);))"},
    {"http_conn_manager_prefix", R"(^http\.(((?:[_.[:digit:]\w]*|[_\[\]aAbBcCdDeEfF[:digit:]\w\:]*));\.))"},
    {"thread_name", R"(^server(\.(.+))\.watchdog)"},
    {"tcp_prefix", R"(^tcp\.((.*?)\.)\w+?$)"},
    {"response_code", R"(_rq(_(\d{3}))$)"},
    {"response_code_class", R"(_rq(_(\dxx))$)"},
    {"http_conn_manager_listener_prefix",
     R"(^listener(?=\.).*?\.http\.(((?:[_.[:digit:]]*|[_\[\]aAbBcCdDeEfF[:digit:]]*))\.))"},
    {"listener_address", R"(^listener\.(((?:[_.[:digit:]]*|[_\[\]aAbBcCdDeEfF[:digit:]]*))\.))"},
    {"mongo_prefix", R"(^mongo\.(.+?)\.(collection|cmd|cx_|op_|delays_|decoding_)(.*?)$)"},
};
constexpr Tag kLastTags[] = {
    {"cache", R"((cache\.(.+?)\.))"},
    {"component", R"((component\.(.+?)\.))"},
    {"tag", R"((tag\.(.+?);\.))"},
    {"wasm_filter", R"((wasm_filter\.(.+?)\.))"},
    {"authz_enforce_result", R"(rbac(\.(allowed|denied)))"},
    {"authz_dry_run_action", R"((\.istio_dry_run_(allow|deny)_))"},
    {"authz_dry_run_result", R"((\.shadow_(allowed|denied)))"},
};

std::vector<std::string> ExtraTags(const Options& options) {
  std::vector<std::string> tags;
  const auto add = [&tags](const std::vector<std::string>& more) {
    for (const std::string& one : more) {
      if (!one.empty() && std::find(tags.begin(), tags.end(), one) == tags.end()) tags.push_back(one);
    }
  };
  add(TextsOf(MemberAt(options.proxy_config, {"extraStatTags"})));
  add(Parts(Annotation(options, kExtraTags)));
  return tags;
}

json StatsTags(const Options& options) {
  json tags = json::array();
  const auto add = [&tags](std::string_view name, std::string_view regex) {
    tags.push_back({{"tag_name", name}, {"regex", regex}});
  };
  for (const Tag& tag : kFirstTags) add(tag.name, tag.regex);
  for (const std::string& tag : ExtraTags(options)) add(tag, StrCat("(", tag, R"(=\.=(.*?);\.;))"));
  for (const Tag& tag : kLastTags) add(tag.name, tag.regex);
  return tags;
}

// What the annotation names, else the ProxyConfig, and what is always there. {pod_ip} stands for each of the
// workload's addresses.
std::vector<std::string> Included(const Options& options, std::string_view annotation, const char* field,
                                  std::vector<std::string> always) {
  const std::string written = Annotation(options, annotation);
  std::vector<std::string> wanted =
      written.empty() ? TextsOf(MemberAt(options.proxy_config, {"proxyStatsMatcher", field}))
                      : Parts(written);
  wanted.insert(wanted.end(), always.begin(), always.end());
  constexpr std::string_view kVariable = "{pod_ip}";
  std::vector<std::string> filled;
  for (const std::string& one : wanted) {
    if (one.find(kVariable) == std::string::npos) {
      filled.push_back(one);
      continue;
    }
    for (const std::string& address : options.addresses)
      filled.push_back(ReplaceAll(one, kVariable, address));
  }
  return filled;
}

json Patterns(const Options& options) {
  std::vector<std::string> suffixes = {"rbac.allowed", "rbac.denied", "shadow_allowed", "shadow_denied"};
  // Draining asks for it.
  if (options.exit_on_zero_active_connections) suffixes.emplace_back("downstream_cx_active");
  json patterns = json::array({{{"prefix", "reporter="}}});
  if (DiscoversPeers(options)) patterns.push_back({{"prefix", "workload_discovery"}});
  for (const std::string& one :
       Included(options, kPrefixes, "inclusionPrefixes",
                {"cluster_manager", "listener_manager", "server", "cluster.xds-grpc", "wasm"}))
    patterns.push_back({{"prefix", one}});
  for (const std::string& one : Included(options, kSuffixes, "inclusionSuffixes", std::move(suffixes)))
    patterns.push_back({{"suffix", one}});
  for (const std::string& one : Included(options, kRegexps, "inclusionRegexps", {R"(vhost\..*\.route\..*)"}))
    patterns.push_back({{"safe_regex", {{"regex", one}}}});
  patterns.push_back({{"prefix", "component"}});
  patterns.push_back({{"prefix", "istio"}});
  return patterns;
}

// {"PREFIX": [bounds]}; null where the annotation is absent or not of that form.
json HistogramBuckets(const Options& options) {
  const json written = ParseJson(Annotation(options, kBuckets)).value_or(json());
  if (!written.is_object()) return {};
  json settings = json::array();
  for (const auto& [prefix, buckets] : written.items()) {
    const bool numbers = buckets.is_array() && std::all_of(buckets.begin(), buckets.end(),
                                                           [](const json& one) { return one.is_number(); });
    if (!numbers) return {};
    settings.push_back({{"match", {{"prefix", prefix}}}, {"buckets", buckets}});
  }
  return settings.empty() ? json() : settings;
}

std::optional<milliseconds> Interval(const Options& options, std::string_view annotation) {
  const std::string text = Annotation(options, annotation);
  return text.empty() ? std::nullopt : ParseDuration(text);
}

// Without zeros at the end: "2.5s".
std::string ShortDuration(milliseconds duration) {
  std::string text = DurationText(duration);
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of("0s") + 1);
  return text + "s";
}

// It must be a multiple of the time between two flushes.
std::optional<milliseconds> Eviction(const Options& options) {
  constexpr milliseconds kUsual{5'000};
  const auto interval = Interval(options, kEviction);
  const milliseconds flush = Interval(options, kFlush).value_or(kUsual);
  if (!interval || flush.count() == 0 || interval->count() % flush.count() != 0) return std::nullopt;
  return milliseconds(interval->count() / 1'000 * 1'000);
}

json Sinks(const Options& options) {
  json sinks = json::array();
  if (!JsonString(MemberAt(options.proxy_config, {"envoyMetricsService"}), "address").empty() ||
      !JsonString(options.proxy_config, "envoyMetricsServiceAddress").empty()) {
    sinks.push_back({{"name", "envoy.stat_sinks.metrics_service"},
                     {"typed_config",
                      {{"@type", TypeUrl("envoy.config.metrics.v3.MetricsServiceConfig")},
                       {"transport_api_version", "V3"},
                       {"grpc_service", {{"envoy_grpc", {{"cluster_name", "envoy_metrics_service"}}}}}}}});
  }
  const auto statsd = RemoteAddress(JsonString(options.proxy_config, "statsdUdpAddress"), options.host_ip);
  if (statsd) {
    sinks.push_back(
        {{"name", "envoy.stat_sinks.statsd"},
         {"typed_config", {{"@type", TypeUrl("envoy.config.metrics.v3.StatsdSink")}, {"address", *statsd}}}});
  }
  return sinks;
}

}  // namespace

void AddStatistics(const Options& options, json* bootstrap) {
  json config = {{"use_all_default_tags", false},
                 {"stats_tags", StatsTags(options)},
                 {"stats_matcher", {{"inclusion_list", {{"patterns", Patterns(options)}}}}}};
  if (json buckets = HistogramBuckets(options); !buckets.is_null())
    config["histogram_bucket_settings"] = std::move(buckets);
  (*bootstrap)["stats_config"] = std::move(config);
  if (const auto flush = Interval(options, kFlush); flush && flush->count() > 0)
    (*bootstrap)["stats_flush_interval"] = ShortDuration(*flush);
  if (const auto eviction = Eviction(options))
    (*bootstrap)["stats_eviction_interval"] = DurationText(*eviction);
  if (json sinks = Sinks(options); !sinks.empty()) (*bootstrap)["stats_sinks"] = std::move(sinks);
}

std::vector<std::string> StatisticsRemarks(const Options& options) {
  std::vector<std::string> remarks;
  const auto remark = [&](std::string_view annotation, std::string_view why) {
    remarks.push_back(StrCat("annotation ", annotation, ": ", why));
  };
  if (!Annotation(options, kBuckets).empty() && HistogramBuckets(options).is_null())
    remark(kBuckets, "not a JSON object of lists of numbers");
  if (!Annotation(options, kFlush).empty() && !Interval(options, kFlush))
    remark(kFlush, "not a duration such as 5s");
  if (!Annotation(options, kEviction).empty() && !Eviction(options))
    remark(kEviction, "not a duration that is a multiple of the flush interval");
  return remarks;
}

}  // namespace fairlead::agent
