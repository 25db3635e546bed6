#ifndef FAIRLEAD_MESH_SCOPE_BUILDER_H_
#define FAIRLEAD_MESH_SCOPE_BUILDER_H_

#include <memory>
#include <string_view>

#include "config/object.h"
#include "mesh/service_variants.h"
#include "mesh/sidecar_scope.h"
#include "mesh/snapshot.h"

namespace fairlead::mesh {

// The scope that a Sidecar object (null: none) makes for its workloads in `ns`. Thread-safe. A pure function,
// but for the pointers of services that it cuts down, which come from `variants`.
std::shared_ptr<SidecarScope> BuildSidecarScope(const MeshSnapshot& snapshot,
                                                const config::ConfigPtr& sidecar, std::string_view ns,
                                                ServiceVariants* variants);

// The scope of routers in `ns`: all that is visible there.
std::shared_ptr<SidecarScope> BuildRouterScope(const MeshSnapshot& snapshot, std::string_view ns,
                                               ServiceVariants* variants);

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_SCOPE_BUILDER_H_
