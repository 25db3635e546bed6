#include "gen/telemetry/view.h"

#include <set>

#include "istio/mesh/v1alpha1/config.pb.h"
#include "mesh/index/policy_index.h"
#include "model/settings.h"

namespace fairlead::gen::telemetry {
namespace {

using ExtensionProvider = istio::mesh::v1alpha1::MeshConfig::ExtensionProvider;

// The services that a provider sends to: its own and its sampler's.
void AddServices(const ExtensionProvider& provider, std::set<std::string>* out) {
  const auto add = [out](const std::string& service) {
    if (!service.empty()) out->insert(service);
  };
  switch (provider.provider_case()) {
    case ExtensionProvider::kZipkin:
      return add(provider.zipkin().service());
    case ExtensionProvider::kDatadog:
      return add(provider.datadog().service());
    case ExtensionProvider::kSkywalking:
      return add(provider.skywalking().service());
    case ExtensionProvider::kEnvoyHttpAls:
      return add(provider.envoy_http_als().service());
    case ExtensionProvider::kEnvoyTcpAls:
      return add(provider.envoy_tcp_als().service());
    case ExtensionProvider::kEnvoyOtelAls:
      return add(provider.envoy_otel_als().service());
    case ExtensionProvider::kOpentelemetry:
      add(provider.opentelemetry().service());
      return add(provider.opentelemetry().dynatrace_sampler().http_service().service());
    default:
      return;
  }
}

}  // namespace

std::string_view TelemetryView::HostOf(std::string_view service) const {
  for (const ProviderService& provider : providers) {
    if (provider.service == service) return provider.hostname;
  }
  return {};
}

TelemetryView CollectTelemetry(mesh::View& mesh) {
  TelemetryView view;
  const model::SettingsPtr settings = mesh.settings(model::SettingsPart::kListeners);
  view.objects = mesh.Policies(config::Kind::kTelemetry);
  std::set<std::string> services;
  for (const ExtensionProvider& provider : settings->mesh->extension_providers()) {
    AddServices(provider, &services);
  }
  for (const std::string& service : services) {
    view.providers.push_back({Interned(service), FindProviderHost(mesh, service)});
  }
  return view;
}

}  // namespace fairlead::gen::telemetry
