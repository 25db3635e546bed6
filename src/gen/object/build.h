#ifndef FAIRLEAD_GEN_OBJECT_BUILD_H_
#define FAIRLEAD_GEN_OBJECT_BUILD_H_

#include <string>

#include "config/object.h"
#include "gen/object/inputs.h"

namespace istio::mcp::v1alpha1 {
class Resource;
}

namespace fairlead::gen::object {

// "namespace/name", "/name" of a kind without namespaces.
std::string NameOf(const config::ConfigObject& object);
// "namespace/synthetic-name"
std::string SyntheticNameOf(const model::Service& service);

// The resource for the inputs' object, or for their service as a ServiceEntry. An object without a
// resourceVersion has its content's hash as version, so that clients see whether it changed.
void BuildResource(const ObjectInputs& inputs, istio::mcp::v1alpha1::Resource* out);

}  // namespace fairlead::gen::object

#endif  // FAIRLEAD_GEN_OBJECT_BUILD_H_
