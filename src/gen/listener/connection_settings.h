#ifndef FAIRLEAD_GEN_LISTENER_CONNECTION_SETTINGS_H_
#define FAIRLEAD_GEN_LISTENER_CONNECTION_SETTINGS_H_

namespace envoy::extensions::filters::network::http_connection_manager::v3 {
class HttpConnectionManager;
}
namespace istio::mesh::v1alpha1 {
class ProxyConfig_ConnectionSettings;
}

namespace fairlead::gen::listener {

// The settings for a router or another proxy. A router with profile EDGE gets Envoy's advice for edge proxies
// for missing settings. Source: Istio's applyEdgeProfileDefaults.
istio::mesh::v1alpha1::ProxyConfig_ConnectionSettings EffectiveConnectionSettings(
    const istio::mesh::v1alpha1::ProxyConfig_ConnectionSettings& settings, bool router);

// ProxyConfig.connectionSettings over what MeshConfig and metadata said. Pure. A field that is not set
// changes nothing; a negative size or count is none. Source: Istio's applyConnectionSettingsToHCM.
void ApplyConnectionSettings(
    const istio::mesh::v1alpha1::ProxyConfig_ConnectionSettings& settings,
    envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager* out);

}  // namespace fairlead::gen::listener

#endif  // FAIRLEAD_GEN_LISTENER_CONNECTION_SETTINGS_H_
