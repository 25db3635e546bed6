#include "gen/telemetry/tracing_plan.h"

#include "base/strings.h"
#include "gen/telemetry/mode.h"
#include "gen/telemetry/traits.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/telemetry/v1alpha1/telemetry.pb.h"

namespace fairlead::gen::telemetry {
namespace {

using istio::telemetry::v1alpha1::Telemetry;
using istio::telemetry::v1alpha1::Tracing;

void Override(const Tracing& tracing, const istio::mesh::v1alpha1::MeshConfig& mesh, TracingPlan* plan) {
  if (tracing.providers_size() > 0) plan->provider = FindProvider(mesh, tracing.providers(0).name());
  if (tracing.has_disable_span_reporting()) plan->disabled = tracing.disable_span_reporting().value();
  if (!tracing.custom_tags().empty()) plan->tagged = &tracing;
  if (tracing.has_random_sampling_percentage()) plan->sampling = tracing.random_sampling_percentage().value();
  if (tracing.has_use_request_id_for_trace_sampling()) {
    plan->use_request_id = tracing.use_request_id_for_trace_sampling().value();
  }
  if (tracing.has_enable_istio_tags()) plan->istio_tags = tracing.enable_istio_tags().value();
  if (tracing.has_disable_context_propagation()) {
    plan->disable_propagation = tracing.disable_context_propagation().value();
  }
}

}  // namespace

const ExtensionProvider* FindProvider(const istio::mesh::v1alpha1::MeshConfig& mesh, std::string_view name) {
  for (const ExtensionProvider& provider : mesh.extension_providers()) {
    if (EqualsIgnoreCase(provider.name(), name)) return &provider;
  }
  return nullptr;
}

std::optional<TracingPlan> PlanTracing(const Traits& traits, TrafficClass traffic) {
  const auto& mesh = *traits.settings->mesh;
  const auto& defaults = mesh.default_providers().tracing();
  TracingPlan plan;
  bool said = !defaults.empty();
  if (said) plan.provider = FindProvider(mesh, defaults[0]);
  for (const config::ConfigPtr& object : traits.telemetry.objects) {
    for (const Tracing& tracing : object->Spec<Telemetry>().tracing()) {
      said = true;
      if (AppliesTo(tracing.match().mode(), traffic)) Override(tracing, mesh, &plan);
    }
  }
  if (!said) return std::nullopt;
  if (plan.provider == nullptr) plan.disabled = true;
  return plan;
}

}  // namespace fairlead::gen::telemetry
