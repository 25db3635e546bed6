#include <string>
#include <string_view>

#include "gen/telemetry/tracing.h"
#include "gen/telemetry/tracing_plan.h"
#include "gen/telemetry/traits.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"

namespace fairlead::gen::telemetry {
namespace {

using istio::mesh::v1alpha1::ProxyConfig;

// Which attributes of a proxy its traces name.
struct TracingNeeds {
  bool tags = false;
  bool service_cluster = false;
  bool otel_service_name = false;
};

TracingNeeds TracingNeedsOf(const Traits& traits) {
  TracingNeeds needs;
  ProxyConfig config;
  config.ParseFromString(traits.proxy_config.str());
  for (const TrafficClass traffic : {TrafficClass::kOutbound, TrafficClass::kInbound}) {
    const std::optional<TracingPlan> plan = PlanTracing(traits, traffic);
    if (!plan) {
      needs.tags |= traits.settings->mesh->enable_tracing() && WantsIstioTags(config);
      continue;
    }
    if (plan->disabled) continue;
    needs.tags |= plan->istio_tags;
    const bool otel = plan->provider->has_opentelemetry();
    const bool enriched = otel && plan->provider->opentelemetry().service_attribute_enrichment() ==
                                      ExtensionProvider::OTEL_SEMANTIC_CONVENTIONS;
    needs.otel_service_name |= enriched;
    needs.service_cluster |= (otel && !enriched) || plan->provider->has_datadog();
  }
  return needs;
}

Interned OrElse(std::string_view text, std::string_view fallback) { return text.empty() ? fallback : text; }

TraceTags CollectTags(mesh::View& view) {
  TraceTags tags;
  tags.canonical_service = OrElse(view.Label("service.istio.io/canonical-name"), "unknown");
  tags.canonical_revision = OrElse(view.Label("service.istio.io/canonical-revision"), "latest");
  tags.mesh_id = OrElse(view.mesh_id(), "unknown");
  tags.ns = OrElse(view.metadata_namespace(), "default");
  tags.cluster_id = OrElse(view.proxy_class().cluster_id, "unknown");
  return tags;
}

// service.name after OpenTelemetry's conventions for Kubernetes. Source: Istio's otelServiceName.
std::string_view OtelServiceName(mesh::View& view) {
  const std::string_view annotated = view.Annotation("resource.opentelemetry.io/service.name");
  if (!annotated.empty()) return annotated;
  for (const char* label : {"app.kubernetes.io/instance", "app.kubernetes.io/name"}) {
    if (const std::string_view value = view.Label(label); !value.empty()) return value;
  }
  if (!view.workload_name().empty()) return view.workload_name();
  const std::string_view id = view.proxy().id;
  return id.starts_with('.') || id.empty() ? "unknown_service" : id.substr(0, id.find('.'));
}

}  // namespace

bool WantsIstioTags(const ProxyConfig& config) {
  return !config.tracing().has_enable_istio_tags() || config.tracing().enable_istio_tags().value();
}

void CollectTracing(mesh::View& view, Traits* traits) {
  const TracingNeeds needs = TracingNeedsOf(*traits);
  if (needs.tags) traits->tags = CollectTags(view);
  if (needs.service_cluster) traits->service_cluster = Interned(view.node_cluster());
  if (needs.otel_service_name) traits->otel_service_name = Interned(OtelServiceName(view));
}

}  // namespace fairlead::gen::telemetry
