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

TraceTags CollectTags(const mesh::ProxyScope& scope) {
  const model::ProxyMetadata& metadata = scope.proxy->metadata;
  TraceTags tags;
  tags.canonical_service = OrElse(LabelOr(scope.labels, "service.istio.io/canonical-name"), "unknown");
  tags.canonical_revision = OrElse(LabelOr(scope.labels, "service.istio.io/canonical-revision"), "latest");
  tags.mesh_id = OrElse(metadata.mesh_id, "unknown");
  tags.ns = OrElse(metadata.ns, "default");
  tags.cluster_id = OrElse(metadata.cluster_id, "unknown");
  return tags;
}

// service.name after OpenTelemetry's conventions for Kubernetes. Source: Istio's otelServiceName.
std::string_view OtelServiceName(const mesh::ProxyScope& scope) {
  const model::Proxy& proxy = *scope.proxy;
  const std::string_view pod = std::string_view(proxy.id).substr(0, proxy.id.find('.'));
  for (const std::string_view name :
       {LabelOr(proxy.metadata.annotations, "resource.opentelemetry.io/service.name"),
        LabelOr(scope.labels, "app.kubernetes.io/instance"), LabelOr(scope.labels, "app.kubernetes.io/name"),
        std::string_view(proxy.metadata.workload_name), pod}) {
    if (!name.empty()) return name;
  }
  return "unknown_service";
}

}  // namespace

bool WantsIstioTags(const ProxyConfig& config) {
  return !config.tracing().has_enable_istio_tags() || config.tracing().enable_istio_tags().value();
}

void CollectTracing(const mesh::ProxyScope& scope, Traits* traits) {
  const TracingNeeds needs = TracingNeedsOf(*traits);
  if (needs.tags) traits->tags = CollectTags(scope);
  if (needs.service_cluster) traits->service_cluster = Interned(scope.proxy->cluster);
  if (needs.otel_service_name) traits->otel_service_name = Interned(OtelServiceName(scope));
}

}  // namespace fairlead::gen::telemetry
