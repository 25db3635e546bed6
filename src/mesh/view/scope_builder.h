#ifndef FAIRLEAD_MESH_VIEW_SCOPE_BUILDER_H_
#define FAIRLEAD_MESH_VIEW_SCOPE_BUILDER_H_

#include <memory>
#include <string_view>

#include "config/object.h"
#include "mesh/index/service_variants.h"
#include "mesh/view/sidecar_scope.h"
#include "mesh/view/visible_mesh.h"

namespace fairlead::mesh {

// The scope that a Sidecar object (null: none) makes for its workloads in `ns`. Thread-safe. A pure function
// of them and of what it reads, but for the pointers of services that it cuts down, which come from
// `variants`.
SidecarScope BuildSidecarScope(const config::ConfigPtr& sidecar, std::string_view ns, VisibleMesh* visible,
                               ServiceVariants* variants);

// The scope of routers in `ns`: all that is visible there.
SidecarScope BuildRouterScope(std::string_view ns, VisibleMesh* visible, ServiceVariants* variants);

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_VIEW_SCOPE_BUILDER_H_
