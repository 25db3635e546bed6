#include <algorithm>
#include <string>
#include <vector>

#include "base/strings.h"
#include "gen/cluster/collect.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/security/v1beta1/request_authentication.pb.h"
#include "model/key_sets.h"

namespace fairlead::gen {
namespace {

using istio::mesh::v1alpha1::MeshConfig;

// Services that a router may need though no route names them, as MeshConfig writes them: "host" or
// "namespace/host".
std::vector<std::string> ProviderServices(const MeshConfig& mesh) {
  std::vector<std::string> services;
  for (const auto& provider : mesh.extension_providers()) {
    switch (provider.provider_case()) {
      case MeshConfig::ExtensionProvider::kEnvoyExtAuthzHttp:
        services.push_back(provider.envoy_ext_authz_http().service());
        break;
      case MeshConfig::ExtensionProvider::kEnvoyExtAuthzGrpc:
        services.push_back(provider.envoy_ext_authz_grpc().service());
        break;
      case MeshConfig::ExtensionProvider::kZipkin:
        services.push_back(provider.zipkin().service());
        break;
      case MeshConfig::ExtensionProvider::kDatadog:
        services.push_back(provider.datadog().service());
        break;
      case MeshConfig::ExtensionProvider::kSkywalking:
        services.push_back(provider.skywalking().service());
        break;
      case MeshConfig::ExtensionProvider::kOpentelemetry:
        services.push_back(provider.opentelemetry().service());
        break;
      case MeshConfig::ExtensionProvider::kEnvoyHttpAls:
        services.push_back(provider.envoy_http_als().service());
        break;
      case MeshConfig::ExtensionProvider::kEnvoyTcpAls:
        services.push_back(provider.envoy_tcp_als().service());
        break;
      case MeshConfig::ExtensionProvider::kEnvoyOtelAls:
        services.push_back(provider.envoy_otel_als().service());
        break;
      case MeshConfig::ExtensionProvider::kSds:
        services.push_back(provider.sds().service());
        break;
      default:
        break;
    }
  }
  return services;
}

// Where routers fetch keys themselves, those that have them.
void AddKeyServers(mesh::View& view, StringSet* hosts) {
  if (view.settings(model::SettingsPart::kListeners)->features.key_fetch == model::KeyFetch::kHere) return;
  for (const config::ConfigPtr& policy : view.Policies(config::Kind::kRequestAuthentication)) {
    for (const auto& rule : policy->Spec<istio::security::v1beta1::RequestAuthentication>().jwt_rules()) {
      const auto server = model::KeyServerOf(rule.jwks_uri());
      if (server) hosts->insert(server->host);
    }
  }
}

}  // namespace

std::vector<model::ServicePtr> CollectRoutedServices(mesh::View& view) {
  const std::vector<std::string> providers =
      ProviderServices(*view.settings(model::SettingsPart::kListeners)->mesh);
  StringSet hosts(providers.begin(), providers.end());
  AddKeyServers(view, &hosts);
  const auto names = view.gateway_names();
  for (const mesh::VirtualServicePtr& virtual_service : view.all_virtual_services().All()) {
    const auto is_ours = [&names](const std::string& gateway) {
      return std::binary_search(names->begin(), names->end(), gateway,
                                [](std::string_view a, std::string_view b) { return a < b; });
    };
    if (std::none_of(virtual_service->gateways.begin(), virtual_service->gateways.end(), is_ours)) continue;
    for (const mesh::RouteDestination& destination : virtual_service->destinations)
      hosts.insert(destination.host);
  }
  std::vector<model::ServicePtr> services = view.imports().services;
  std::erase_if(services, [&hosts](const model::ServicePtr& service) {
    return !hosts.contains(service->hostname.str()) &&
           !hosts.contains(StrCat(service->ns.str(), "/", service->hostname.str()));
  });
  return services;
}

}  // namespace fairlead::gen
