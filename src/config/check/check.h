#ifndef FAIRLEAD_CONFIG_CHECK_CHECK_H_
#define FAIRLEAD_CONFIG_CHECK_CHECK_H_

#include "config/kind.h"
#include "config/object.h"
#include "config/report.h"
#include "config/tree.h"

namespace google::protobuf {
class Message;
}
namespace istio::mesh::v1alpha1 {
class MeshConfig;
class MeshNetworks;
}  // namespace istio::mesh::v1alpha1

namespace fairlead::config::check {

// Whether Istio would admit an object that could be read: reports what an API server with Istio's
// CustomResourceDefinitions would refuse it for (types, bounds, rules), then what Istio's webhook would, and
// warnings as the webhook gives them. `document` is what was read as `spec`. Kinds that are not Istio's have
// no rules here. Thread-safe.
void CheckObject(const KindInfo& kind, const ObjectMeta& meta, Node document,
                 const google::protobuf::Message& spec, Report& report);

// The mesh's own settings, merged over the defaults; `document` is what the user wrote of them.
void CheckMeshConfig(const istio::mesh::v1alpha1::MeshConfig& mesh, Node document, Report& report);
// Its extension providers: all findings are warnings, since Istio takes the settings all the same and logs
// them.
void CheckExtensionProviders(const istio::mesh::v1alpha1::MeshConfig& mesh, Node document, Report& report);
// The networks; `document` is what they were read from.
void CheckMeshNetworks(const istio::mesh::v1alpha1::MeshNetworks& networks, Node document, Report& report);

}  // namespace fairlead::config::check

#endif  // FAIRLEAD_CONFIG_CHECK_CHECK_H_
