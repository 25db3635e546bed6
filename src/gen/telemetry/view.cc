#include "gen/telemetry/view.h"

#include <algorithm>
#include <set>

#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/telemetry/v1alpha1/telemetry.pb.h"
#include "model/settings.h"

namespace fairlead::gen::telemetry {
namespace {

using Telemetry = istio::telemetry::v1alpha1::Telemetry;
using ExtensionProvider = istio::mesh::v1alpha1::MeshConfig::ExtensionProvider;

bool HasTarget(const Telemetry& spec) { return spec.has_targetref() || spec.targetrefs_size() > 0; }
bool IsNamespaceWide(const Telemetry& spec) {
  return spec.selector().match_labels().empty() && !HasTarget(spec);
}

// The oldest object of the namespace that is for all its workloads.
void AddNamespaceWide(const std::vector<config::ConfigPtr>& objects, std::vector<config::ConfigPtr>* out) {
  const auto found = std::find_if(objects.begin(), objects.end(), [](const config::ConfigPtr& object) {
    return IsNamespaceWide(object->Spec<Telemetry>());
  });
  if (found != objects.end()) out->push_back(*found);
}

bool Selects(const Telemetry& spec, const LabelMap& labels) {
  for (const auto& [key, value] : spec.selector().match_labels()) {
    const auto label = labels.find(key);
    if (label == labels.end() || label->second != value) return false;
  }
  return true;
}

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

Interned Lookup(const mesh::ServiceIndex& services, std::string_view service) {
  const size_t slash = service.find('/');
  if (slash == std::string_view::npos) {
    const std::vector<model::ServicePtr>& found = services.ByHost(service);
    if (found.empty() || found.front()->ns.str() != found.back()->ns.str()) return {};
    return found.front()->hostname;
  }
  if (service.find('/', slash + 1) != std::string_view::npos) return {};
  const model::ServicePtr found = services.Find(service.substr(slash + 1), service.substr(0, slash));
  return found == nullptr ? Interned() : found->hostname;
}

}  // namespace

std::string_view TelemetryView::HostOf(std::string_view service) const {
  for (const ProviderService& provider : providers) {
    if (provider.service == service) return provider.hostname;
  }
  return {};
}

TelemetryView CollectTelemetry(const mesh::MeshSnapshot& snapshot, std::string_view ns,
                               const LabelMap& labels) {
  TelemetryView view;
  const std::string& root = snapshot.settings->root_namespace;
  const auto& own = snapshot.objects->Of(config::Kind::kTelemetry, ns);
  AddNamespaceWide(snapshot.objects->Of(config::Kind::kTelemetry, root), &view.objects);
  if (ns != root) AddNamespaceWide(own, &view.objects);
  for (const config::ConfigPtr& object : own) {
    const auto& spec = object->Spec<Telemetry>();
    // Only gateways can be named by a targetRef here.
    if (!IsNamespaceWide(spec) && !HasTarget(spec) && Selects(spec, labels)) view.objects.push_back(object);
  }
  std::set<std::string> services;
  for (const ExtensionProvider& provider : snapshot.settings->mesh->extension_providers()) {
    AddServices(provider, &services);
  }
  for (const std::string& service : services) {
    view.providers.push_back({Interned(service), Lookup(*snapshot.services, service)});
  }
  return view;
}

}  // namespace fairlead::gen::telemetry
