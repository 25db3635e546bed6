#ifndef FAIRLEAD_GEN_NAMING_METADATA_H_
#define FAIRLEAD_GEN_NAMING_METADATA_H_

#include <string>
#include <string_view>

#include "config/object.h"
#include "model/features.h"
#include "model/service.h"

namespace envoy::config::core::v3 {
class Metadata;
}
namespace google::protobuf {
class Any;
class Struct;
}  // namespace google::protobuf

// The "istio" filter metadata that Istio puts on clusters, endpoints, listeners' filter chains and routes,
// for telemetry and debugging.
namespace fairlead::gen {

inline constexpr std::string_view kIstioMetadata = "istio";
inline constexpr std::string_view kTransportSocketMatch = "envoy.transport_socket_match";

// The "istio" struct of `metadata`, made where it is missing.
google::protobuf::Struct* IstioMetadata(envoy::config::core::v3::Metadata* metadata);

// "/apis/networking.istio.io/v1/namespaces/default/destination-rule/reviews": group, preferred version, kind
// in kebab case.
std::string ConfigPath(const config::ConfigObject& object);
// istio.config: the object that a resource comes from.
void AddConfigMetadata(const config::ConfigObject& object, envoy::config::core::v3::Metadata* metadata);
// Appends {host, name, namespace} to istio.services (made where it is missing).
void AddServiceMetadata(const model::Service& service, envoy::config::core::v3::Metadata* metadata);

// Names the labels that proxies tell each other besides the usual ones; nothing where there are none.
void AddExchangeLabels(const model::Features& features, google::protobuf::Struct* out);
// The configuration of the filter by which proxies tell each other their workloads over TCP, in clusters and
// listeners.
void PackTcpMetadataExchange(const model::Features& features, google::protobuf::Any* out);

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_NAMING_METADATA_H_
