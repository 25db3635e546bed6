#ifndef FAIRLEAD_GEN_OBJECT_GENERATORS_H_
#define FAIRLEAD_GEN_OBJECT_GENERATORS_H_

#include <memory>

#include "config/kind.h"
#include "gen/generator.h"

// The objects of the mesh themselves, for other control planes and tools that take them over xDS (as the
// successor of MCP): a resource is an istio.mcp.v1alpha1.Resource, named "namespace/name", with the object's
// metadata and its spec, which is the kind's message or, for the Gateway API, a google.protobuf.Struct.
// Source: Istio's apigen, config.PilotConfigToResource and serviceentry.ServiceToServiceEntry.
namespace fairlead::gen {

// The objects of one kind that is no Kubernetes struct (see config/kinds.inc). With the ServiceEntries come,
// as "namespace/synthetic-name", entries without endpoints for the services of other registries that the
// client's scope sees.
std::unique_ptr<Generator> NewObjectGenerator(config::Kind kind);

// The MeshConfig that holds, one resource without a name.
std::unique_ptr<Generator> NewMeshConfigGenerator();

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_OBJECT_GENERATORS_H_
