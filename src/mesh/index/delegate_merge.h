#ifndef FAIRLEAD_MESH_INDEX_DELEGATE_MERGE_H_
#define FAIRLEAD_MESH_INDEX_DELEGATE_MERGE_H_

#include <google/protobuf/repeated_ptr_field.h>

namespace istio::networking::v1alpha3 {
class HTTPRoute;
class VirtualService;
}  // namespace istio::networking::v1alpha3

namespace fairlead::mesh {

// Appends the routes of a delegate VirtualService as the delegating route `root` narrows them: matches are
// combined, and what a route does not say itself comes from the root. A route whose matches all contradict
// the root's is left out. Returns how many were left out. Names must be qualified. Source:
// istio.networking.v1alpha3.Delegate.
int AppendDelegateRoutes(const istio::networking::v1alpha3::HTTPRoute& root,
                         const istio::networking::v1alpha3::VirtualService& delegate,
                         google::protobuf::RepeatedPtrField<istio::networking::v1alpha3::HTTPRoute>* routes);

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_DELEGATE_MERGE_H_
