#ifndef FAIRLEAD_PROTO_DESCRIPTORS_H_
#define FAIRLEAD_PROTO_DESCRIPTORS_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <string_view>

// Schemas that are compiled into the program. Generated messages know their own descriptors
// (google::protobuf::DescriptorPool::generated_pool()); what is here serves every other type: EnvoyFilter
// values of any Envoy type, the extensions that no code of ours builds, Kubernetes objects.
//
// All functions may be called from any thread. What they return lives until the program ends.

namespace fairlead::proto {

// Every message of the Envoy, xDS, OpenTelemetry and Istio APIs, the generated ones too (but as other
// descriptors: a descriptor of this pool and one of the generated pool never compare equal). Files are built
// when first looked up.
const google::protobuf::DescriptorPool& WholeApiPool();

// Makes dynamic messages for descriptors of WholeApiPool().
google::protobuf::MessageFactory& WholeApiMessages();

// The Kubernetes API's groups, from the generated.proto files of k8s.io/api and k8s.io/apimachinery; message
// names as in `k8s.io.api.core.v1.Service`. They tell a field's name and type; int-or-string and quantity
// fields are messages there but scalars in YAML.
const google::protobuf::DescriptorPool& KubernetesApiPool();

enum class GatewayApiChannel { kStandard, kExperimental };

// The CustomResourceDefinitions as YAML documents, each after a line "---".
std::string_view GatewayApiCrds(GatewayApiChannel channel);
std::string_view IstioCrds();

}  // namespace fairlead::proto

#endif  // FAIRLEAD_PROTO_DESCRIPTORS_H_
