#include "config/check_fixture.h"

// What is found in telemetries.
namespace fairlead::config::check {
namespace {

TEST(TelemetryCheckTest, Tracing) {
  ExpectFindings(
      "telemetry.istio.io/v1 Telemetry", "{tracing: [%]}",
      {
          {"{providers: [{name: p}], randomSamplingPercentage: 50, customTags: {a: {literal: {value: b}}}}",
           {}},
          {"{providers: [{name: ''}]}", {"error spec.tracing[0].providers[0].name (missing-field)"}},
          {"{providers: [{name: p}, {name: q}]}, {}",
           {"warning spec.tracing (no-effect)", "warning spec.tracing[0].providers (no-effect)"}},
          {"{randomSamplingPercentage: 101}",
           {"error spec.tracing[0].randomSamplingPercentage (out-of-range)"}},
          {"{customTags: {a: {literal: {value: ''}}, b: {header: {name: ''}}, c: {environment: {name: ''}}, "
           "'': {literal: {value: d}}}}",
           {"error spec.tracing[0].customTags (missing-field)",
            "error spec.tracing[0].customTags.a (missing-field)",
            "error spec.tracing[0].customTags.a.literal.value (out-of-range)",
            "error spec.tracing[0].customTags.b (missing-field)",
            "error spec.tracing[0].customTags.b.header.name (out-of-range)",
            "error spec.tracing[0].customTags.c (missing-field)",
            "error spec.tracing[0].customTags.c.environment.name (out-of-range)"}},
      });
}

TEST(TelemetryCheckTest, Metrics) {
  ExpectFindings("telemetry.istio.io/v1 Telemetry", "{metrics: [%]}",
                 {
                     {"{providers: [{name: prometheus}], overrides: [{match: {metric: REQUEST_COUNT}, "
                      "tagOverrides: {a: {operation: UPSERT, value: b}, c: {operation: REMOVE}}}]}",
                      {}},
                     {"{overrides: [{tagOverrides: {a: {operation: UPSERT}, b: {operation: REMOVE, value: "
                      "c}, c: {}, d: null}}]}",
                      {"error spec.metrics[0].overrides[0].tagOverrides.a (broken-rule)",
                       "error spec.metrics[0].overrides[0].tagOverrides.a.value (missing-field)",
                       "error spec.metrics[0].overrides[0].tagOverrides.b (broken-rule)",
                       "error spec.metrics[0].overrides[0].tagOverrides.b.value (conflict)",
                       "error spec.metrics[0].overrides[0].tagOverrides.c.value (missing-field)",
                       "error spec.metrics[0].overrides[0].tagOverrides.d (missing-field)"}},
                     {"{overrides: [{match: {customMetric: ''}}]}",
                      {"error spec.metrics[0].overrides[0].match.customMetric (missing-field)"}},
                     {"{overrides: [{match: {customMetric: a, metric: REQUEST_COUNT}}]}",
                      {"error spec.metrics[0].overrides[0].match.metric (conflicting-fields)"}},
                 });
}

TEST(TelemetryCheckTest, AccessLogs) {
  ExpectFindings(
      "telemetry.istio.io/v1 Telemetry", "{accessLogging: [%]}",
      {
          {"{filter: {expression: 'response.code >= 400 && has(request.headers.x)'}}", {}},
          {"{filter: {expression: 'response.code >='}}",
           {"error spec.accessLogging[0].filter.expression (invalid-value)"}},
          {"{filter: {}}", {"error spec.accessLogging[0].filter.expression (invalid-value)"}},
          {"{providers: [{name: ''}]}", {"error spec.accessLogging[0].providers[0].name (missing-field)"}},
      });
}

TEST(TelemetryCheckTest, TelemetryTargets) {
  ExpectFindings("telemetry.istio.io/v1 Telemetry", "%",
                 {
                     {"{selector: {matchLabels: {a: b}}, targetRefs: [{kind: Service, name: s}]}",
                      {"error spec (conflict)"}},
                 });
}

}  // namespace
}  // namespace fairlead::config::check
