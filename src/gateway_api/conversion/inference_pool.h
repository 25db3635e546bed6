#ifndef FAIRLEAD_GATEWAY_API_CONVERSION_INFERENCE_POOL_H_
#define FAIRLEAD_GATEWAY_API_CONVERSION_INFERENCE_POOL_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/object.h"

// InferencePools (inference.networking.k8s.io) as backends of HTTPRoutes: each that is used has a headless
// Service, whose endpoints are the pods that the pool selects. Source: Istio's inferencepool_collection.go.
namespace fairlead::gateway_api {

// The Service's only port that routes and clusters know: the port of the pool's first targetPort.
inline constexpr int kFirstPoolPort = 54321;

// "POOL-ip-HASH", at most 63 characters. Istio's name for it, so that a cluster has it once.
std::string PoolServiceName(std::string_view pool);

// The service that chooses an endpoint for each request, spec.endpointPickerRef.
struct EndpointPicker {
  std::string host;
  uint32_t port = 0;
  bool fails_open = false;  // without an answer, requests go to any endpoint
  friend bool operator==(const EndpointPicker&, const EndpointPicker&) = default;
};
using PickersByRule = std::map<std::string, EndpointPicker, std::less<>>;
// Nothing where no port is named: such a pool is not usable.
std::optional<EndpointPicker> PickerOf(const config::ConfigObject& pool, std::string_view domain);

// The pools that an HTTPRoute names as backends, sorted, each once; none of other routes.
std::vector<config::ObjectKey> NamedPools(const config::ConfigObject& route);

// REQUIRES: the pool has a picker.
config::ConfigPtr MakePoolService(const config::ConfigObject& pool);
// Of the pods of the pool's namespace those that it selects; null where there is none.
config::ConfigPtr MakePoolSlice(const config::ConfigObject& pool, const std::vector<config::ConfigPtr>& pods);

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_CONVERSION_INFERENCE_POOL_H_
