#include "xds/types.h"

namespace fairlead::xds {

const std::array<TypeInfo, kTypeCount> kTypes = {{
    {.id = TypeId::kCluster,
     .url = "type.googleapis.com/envoy.config.cluster.v3.Cluster",
     .name = "CDS",
     .metric = "cds",
     .root = true,
     .removed_last = true,
     .never_removed = false,
     .children = MaskOf(TypeId::kEndpoint)},
    {.id = TypeId::kEndpoint,
     .url = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
     .name = "EDS",
     .metric = "eds",
     .root = false,
     .removed_last = false,
     .never_removed = false,
     .children = 0},
    {.id = TypeId::kListener,
     .url = "type.googleapis.com/envoy.config.listener.v3.Listener",
     .name = "LDS",
     .metric = "lds",
     .root = true,
     .removed_last = false,
     .never_removed = false,
     .children = MaskOf(TypeId::kRoute) | MaskOf(TypeId::kExtension)},
    {.id = TypeId::kRoute,
     .url = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
     .name = "RDS",
     .metric = "rds",
     .root = false,
     .removed_last = false,
     .never_removed = false,
     .children = 0},
    {.id = TypeId::kSecret,
     .url = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret",
     .name = "SDS",
     .metric = "sds",
     .root = false,
     .removed_last = false,
     .never_removed = false,
     .children = 0},
    {.id = TypeId::kExtension,
     .url = "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig",
     .name = "ECDS",
     .metric = "ecds",
     .root = false,
     .removed_last = false,
     .never_removed = true,
     .children = 0},
    {.id = TypeId::kNameTable,
     .url = "type.googleapis.com/istio.networking.nds.v1.NameTable",
     .name = "NDS",
     .metric = "nds",
     .root = true,
     .removed_last = false,
     .never_removed = false,
     .children = 0},
}};

const TypeInfo* FindType(std::string_view url) {
  for (const TypeInfo& type : kTypes) {
    if (type.url == url) return &type;
  }
  return nullptr;
}

}  // namespace fairlead::xds
