#ifndef FAIRLEAD_GEN_NAMING_INFERENCE_POOL_H_
#define FAIRLEAD_GEN_NAMING_INFERENCE_POOL_H_

#include <string_view>

#include "model/service.h"

// The common rules of clusters, endpoints, routes and listeners for InferencePools. Source: Istio's
// pkg/config/constants and the endpoint picker protocol of the Gateway API inference extension.
namespace fairlead::gen {

inline constexpr std::string_view kEndpointPickerFilter = "envoy.filters.http.ext_proc";
// Where pickers say which endpoint a request is for, and proxies which one served it: a namespace of dynamic
// metadata and its keys.
inline constexpr std::string_view kPickedNamespace = "envoy.lb";
inline constexpr std::string_view kPickedKey = "x-gateway-destination-endpoint";
inline constexpr std::string_view kServedKey = "x-gateway-destination-endpoint-served";

// Whether the service stands for an InferencePool: all its ports' endpoints are one cluster, the first
// port's.
bool IsInferencePool(const model::Service& service);

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_NAMING_INFERENCE_POOL_H_
