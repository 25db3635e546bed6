#include "xds/services.h"

namespace fairlead::xds {

const std::array<ServiceInfo, kServiceCount> kServices = {{
    {TypeId::kCluster, "envoy.service.cluster.v3.ClusterDiscoveryService", "StreamClusters", "DeltaClusters",
     "FetchClusters", "/v3/discovery:clusters"},
    {TypeId::kEndpoint, "envoy.service.endpoint.v3.EndpointDiscoveryService", "StreamEndpoints",
     "DeltaEndpoints", "FetchEndpoints", "/v3/discovery:endpoints"},
    {TypeId::kListener, "envoy.service.listener.v3.ListenerDiscoveryService", "StreamListeners",
     "DeltaListeners", "FetchListeners", "/v3/discovery:listeners"},
    {TypeId::kRoute, "envoy.service.route.v3.RouteDiscoveryService", "StreamRoutes", "DeltaRoutes",
     "FetchRoutes", "/v3/discovery:routes"},
    {TypeId::kVirtualHost, "envoy.service.route.v3.VirtualHostDiscoveryService", "", "DeltaVirtualHosts", "",
     ""},
    {TypeId::kSecret, "envoy.service.secret.v3.SecretDiscoveryService", "StreamSecrets", "DeltaSecrets",
     "FetchSecrets", "/v3/discovery:secrets"},
    {TypeId::kExtension, "envoy.service.extension.v3.ExtensionConfigDiscoveryService",
     "StreamExtensionConfigs", "DeltaExtensionConfigs", "FetchExtensionConfigs",
     "/v3/discovery:extension_configs"},
}};

}  // namespace fairlead::xds
