#include "config/cel/cel.h"
#include "config/check/kinds.h"
#include "config/check/parts.h"
#include "istio/telemetry/v1alpha1/telemetry.pb.h"

namespace fairlead::config::check {
namespace {

using istio::telemetry::v1alpha1::MetricSelector;
using istio::telemetry::v1alpha1::MetricsOverrides;
using istio::telemetry::v1alpha1::Telemetry;
using istio::telemetry::v1alpha1::Tracing;

template <typename Providers>
void CheckProviders(const Providers& providers, const Spot& at) {
  for (int i = 0; i < providers.size(); ++i) {
    const Spot here(at, static_cast<size_t>(i));
    if (providers[i].name().empty()) here.Field("name").Error("missing-field", "this field is required");
  }
}

void CheckTag(const Tracing::CustomTag& tag, const Spot& at) {
  const bool empty = (tag.has_literal() && tag.literal().value().empty()) ||
                     (tag.has_header() && tag.header().name().empty()) ||
                     (tag.has_environment() && tag.environment().name().empty());
  if (empty) at.Error("missing-field", "a tag's literal value, header or variable may not be empty");
}

void CheckTracing(const Telemetry& telemetry, const Spot& at) {
  if (telemetry.tracing_size() > 1) at.Warn("no-effect", "only one tracing is supported");
  for (int i = 0; i < telemetry.tracing_size(); ++i) {
    const Tracing& tracing = telemetry.tracing(i);
    const Spot here(at, static_cast<size_t>(i));
    const Spot providers(here, "providers"), tags(here, "customTags");
    if (tracing.providers_size() > 1) providers.Warn("no-effect", "only one provider is supported");
    CheckProviders(tracing.providers(), providers);
    CheckPercent(tracing.random_sampling_percentage().value(), Spot(here, "randomSamplingPercentage"));
    for (const auto& [name, tag] : tracing.custom_tags()) {
      if (name.empty()) tags.Error("missing-field", "a tag's name may not be empty");
      CheckTag(tag, Spot(tags, name));
    }
  }
}

void CheckOverride(const MetricsOverrides& override, const Spot& at) {
  const Spot tags(at, "tagOverrides"), match(at, "match");
  // What is read as a map leaves out entries that are null.
  for (const Node::Entry& entry : tags.Written().entries()) {
    if (entry.value.IsNull()) tags.Field(entry.key).Error("missing-field", "operation UPSERT wants a value");
  }
  for (const auto& [name, tag] : override.tag_overrides()) {
    const Spot here(tags, name);
    if (name.empty()) tags.Warn("no-effect", "a tag's name may not be empty");
    const bool upsert = tag.operation() == MetricsOverrides::TagOverride::UPSERT;
    const bool remove = tag.operation() == MetricsOverrides::TagOverride::REMOVE;
    if (upsert && tag.value().empty())
      here.Field("value").Error("missing-field", "operation UPSERT wants a value");
    if (remove && !tag.value().empty())
      here.Field("value").Error("conflict", "operation REMOVE has no value");
  }
  if (override.match().metric_match_case() == MetricSelector::kCustomMetric &&
      override.match().custom_metric().empty())
    match.Field("customMetric").Error("missing-field", "a metric's name may not be empty");
}

void CheckMetrics(const Telemetry& telemetry, const Spot& at) {
  for (int i = 0; i < telemetry.metrics_size(); ++i) {
    const Spot here(at, static_cast<size_t>(i));
    const Spot overrides(here, "overrides");
    CheckProviders(telemetry.metrics(i).providers(), Spot(here, "providers"));
    for (int j = 0; j < telemetry.metrics(i).overrides_size(); ++j)
      CheckOverride(telemetry.metrics(i).overrides(j), Spot(overrides, static_cast<size_t>(j)));
  }
}

// A filter in CEL, whose attributes are Envoy's.
void CheckFilter(std::string_view expression, const Spot& at) {
  if (const CelParsed parsed = ParseCel(expression); parsed.expression == nullptr)
    at.Refuse(StrCat("not an expression in CEL: ", parsed.error));
}

void CheckAccessLogging(const Telemetry& telemetry, const Spot& at) {
  for (int i = 0; i < telemetry.access_logging_size(); ++i) {
    const auto& logging = telemetry.access_logging(i);
    const Spot here(at, static_cast<size_t>(i));
    CheckProviders(logging.providers(), Spot(here, "providers"));
    if (!logging.has_filter()) continue;
    const Spot filter(here, "filter");
    CheckFilter(logging.filter().expression(), Spot(filter, "expression"));
  }
}

}  // namespace

void CheckTelemetry(const google::protobuf::Message& message, const Spot& spec) {
  const auto& telemetry = static_cast<const Telemetry&>(message);
  CheckTargets(telemetry, spec);
  CheckMetrics(telemetry, Spot(spec, "metrics"));
  CheckTracing(telemetry, Spot(spec, "tracing"));
  CheckAccessLogging(telemetry, Spot(spec, "accessLogging"));
}

}  // namespace fairlead::config::check
