#ifndef FAIRLEAD_MESH_INDEX_VIRTUAL_SERVICE_NAMES_H_
#define FAIRLEAD_MESH_INDEX_VIRTUAL_SERVICE_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

#include "mesh/index/routing_objects.h"

namespace fairlead::mesh {

// "namespace/name" of a Gateway as a manifest in `ns` writes it: "name", "./name", "namespace/name" or, as
// Istio once had it, "name.namespace" with or without the rest of a DNS name. "mesh" stays.
std::string QualifyGateway(std::string_view gateway, std::string_view ns);

// Qualifies every host and gateway that a VirtualService of `ns` mentions. Returns whether anything changed.
bool QualifyNames(std::string_view ns, std::string_view domain,
                  istio::networking::v1alpha3::VirtualService* virtual_service);

// What the routes lead to, sorted and unique. Names must be qualified.
std::vector<RouteDestination> CollectDestinations(
    const istio::networking::v1alpha3::VirtualService& virtual_service);

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_VIRTUAL_SERVICE_NAMES_H_
