#include "gen/telemetry/metrics.h"

#include <google/protobuf/any.pb.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "gen/telemetry/mode.h"
#include "gen/telemetry/tracing_plan.h"
#include "gen/telemetry/traits.h"
#include "istio/envoy/extensions/stats/config.pb.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/telemetry/v1alpha1/telemetry.pb.h"
#include "proto/messages.h"

namespace fairlead::gen::telemetry {
namespace {

using istio::telemetry::v1alpha1::Metrics;
using istio::telemetry::v1alpha1::MetricSelector;
using istio::telemetry::v1alpha1::MetricsOverrides;
using istio::telemetry::v1alpha1::Telemetry;
using stats::MetricConfig;
using stats::PluginConfig;

// Istio's metrics and what the filter calls them.
const std::map<std::string, std::string>& PrometheusNames() {
  static const auto* const names = new std::map<std::string, std::string>{
      {"REQUEST_COUNT", "requests_total"},
      {"REQUEST_DURATION", "request_duration_milliseconds"},
      {"REQUEST_SIZE", "request_bytes"},
      {"RESPONSE_SIZE", "response_bytes"},
      {"TCP_OPENED_CONNECTIONS", "tcp_connections_opened_total"},
      {"TCP_CLOSED_CONNECTIONS", "tcp_connections_closed_total"},
      {"TCP_SENT_BYTES", "tcp_sent_bytes_total"},
      {"TCP_RECEIVED_BYTES", "tcp_received_bytes_total"},
      {"GRPC_REQUEST_MESSAGES", "request_messages_total"},
      {"GRPC_RESPONSE_MESSAGES", "response_messages_total"},
  };
  return *names;
}

struct MetricOverride {
  bool disabled = false;
  std::map<std::string, MetricsOverrides::TagOverride> tags;
};

// What is said about one provider, for one direction.
struct ProviderMetrics {
  bool disabled = false;  // all metrics: the filter is left out
  std::map<std::string, MetricOverride> metrics;
  std::optional<google::protobuf::Duration> interval;
};
using Plan = std::map<std::string, ProviderMetrics>;

bool IsAllMetrics(const MetricSelector& match) {
  return !match.has_custom_metric() && (!match.has_metric() || match.metric() == MetricSelector::ALL_METRICS);
}

std::vector<std::string> MatchedMetrics(const MetricSelector& match) {
  if (match.has_custom_metric()) return {match.custom_metric()};
  if (!IsAllMetrics(match)) return {MetricSelector::IstioMetric_Name(match.metric())};
  std::vector<std::string> all;
  for (const auto& [name, prometheus] : PrometheusNames()) all.push_back(name);
  return all;
}

void ApplyOverride(const MetricsOverrides& override, TrafficClass traffic, ProviderMetrics* out) {
  if (!AppliesTo(override.match().mode(), traffic)) return;
  if (IsAllMetrics(override.match()) && override.disabled().value()) {
    out->disabled = true;
    return;
  }
  out->disabled = false;
  for (const std::string& name : MatchedMetrics(override.match())) {
    MetricOverride& metric = out->metrics[name];
    if (override.has_disabled()) metric.disabled = override.disabled().value();
    for (const auto& [tag, change] : override.tag_overrides()) metric.tags[tag] = change;
  }
}

std::vector<std::string> NamesOf(const Metrics& metrics) {
  std::vector<std::string> names;
  for (const auto& provider : metrics.providers()) names.push_back(provider.name());
  return names;
}

// Source: Istio's mergeMetrics.
Plan PlanMetrics(const Traits& traits, TrafficClass traffic) {
  const auto& default_names = traits.settings->mesh->default_providers().metrics();
  std::vector<std::string> defaults(default_names.begin(), default_names.end());
  std::vector<const Metrics*> rules;
  for (const config::ConfigPtr& object : traits.telemetry.objects) {
    for (const Metrics& metrics : object->Spec<Telemetry>().metrics()) rules.push_back(&metrics);
  }
  Plan plan;
  if (rules.empty()) {
    for (const std::string& name : defaults) plan[name];
    return plan;
  }
  std::vector<std::string> innermost = defaults;
  for (const Metrics* rule : rules) {
    if (rule->providers_size() > 0) innermost = NamesOf(*rule);
  }
  const std::set<std::string> in_scope(innermost.begin(), innermost.end());
  std::vector<std::string> inherited = defaults;
  for (const Metrics* rule : rules) {
    if (rule->providers_size() > 0) inherited = NamesOf(*rule);
    for (const std::string& name : inherited) {
      if (!in_scope.contains(name)) continue;
      ProviderMetrics& provider = plan[name];
      if (rule->has_reporting_interval()) provider.interval = rule->reporting_interval();
      for (const MetricsOverrides& override : rule->overrides()) ApplyOverride(override, traffic, &provider);
    }
  }
  return plan;
}

void SetMetric(const std::string& name, const MetricOverride& override, MetricConfig* out) {
  const auto known = PrometheusNames().find(name);
  out->set_name(known == PrometheusNames().end() ? name : known->second);
  out->set_drop(override.disabled);
  for (const auto& [tag, change] : override.tags) {
    if (change.operation() == MetricsOverrides::TagOverride::REMOVE) {
      out->add_tags_to_remove(tag);
    } else {
      (*out->mutable_dimensions())[tag] = change.value();
    }
  }
}

}  // namespace

std::vector<google::protobuf::Any> StatsConfigs(const Traits& traits, TrafficClass traffic) {
  std::vector<google::protobuf::Any> configs;
  if (!traits.HasExtension(kStatsFilter)) return configs;
  for (const auto& [name, metrics] : PlanMetrics(traits, traffic)) {
    const ExtensionProvider* provider = FindProvider(*traits.settings->mesh, name);
    if (provider == nullptr || !provider->has_prometheus() || metrics.disabled) continue;
    PluginConfig config;
    // The server knows which service was asked for; what a client wrote in Host proves nothing.
    config.set_disable_host_header_fallback(traffic != TrafficClass::kOutbound);
    if (metrics.interval) *config.mutable_tcp_reporting_duration() = *metrics.interval;
    for (const auto& [metric, override] : metrics.metrics) SetMetric(metric, override, config.add_metrics());
    configs.push_back(proto::Packed(config));
  }
  return configs;
}

}  // namespace fairlead::gen::telemetry
