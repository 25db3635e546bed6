#ifndef FAIRLEAD_CONFIG_CHECK_CHECK_H_
#define FAIRLEAD_CONFIG_CHECK_CHECK_H_

#include <string_view>

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

// Whether Istio would admit an object of its own kinds that could be read: reports what an API server with
// Istio's CustomResourceDefinitions would refuse it for (types, bounds, rules), then what Istio's webhook
// would, and warnings as the webhook gives them. `document` is what was read as `spec`. Thread-safe.
void CheckObject(const KindInfo& kind, const ObjectMeta& meta, Node document,
                 const google::protobuf::Message& spec, Report& report);

// Whether an API server would admit an object of another kind that has a definition, the Gateway API's:
// patterns, what goes not together, and the rules. `document` has the defaults filled in. Kinds without a
// definition have no rules here. Thread-safe.
void CheckDefinition(const KindInfo& kind, std::string_view api_version, const ObjectMeta& meta,
                     Node document, Report& report);

// The mesh's own settings, merged over the defaults; `document` is what the user wrote of them.
void CheckMeshConfig(const istio::mesh::v1alpha1::MeshConfig& mesh, Node document, Report& report);
// Its extension providers: all findings are warnings, since Istio takes the settings all the same and logs
// them.
void CheckExtensionProviders(const istio::mesh::v1alpha1::MeshConfig& mesh, Node document, Report& report);
// The networks; `document` is what they were read from.
void CheckMeshNetworks(const istio::mesh::v1alpha1::MeshNetworks& networks, Node document, Report& report);

}  // namespace fairlead::config::check

#endif  // FAIRLEAD_CONFIG_CHECK_CHECK_H_
