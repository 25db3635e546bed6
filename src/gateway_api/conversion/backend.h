#ifndef FAIRLEAD_GATEWAY_API_CONVERSION_BACKEND_H_
#define FAIRLEAD_GATEWAY_API_CONVERSION_BACKEND_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/object.h"
#include "config/tree.h"
#include "gateway_api/conversion/inference_pool.h"
#include "gateway_api/error.h"
#include "gateway_api/lookups.h"

namespace fairlead::gateway_api {

// The route that a rule belongs to, and how it is looked at: once for the mesh, once for gateways.
struct RouteView {
  const config::ConfigObject& route;
  bool wants_grants;  // at gateways only
  Lookups& lookups;
};

inline constexpr std::string_view kInvalidDestination = "InvalidDestination";
inline constexpr std::string_view kInvalidFilter = "InvalidFilter";
inline constexpr std::string_view kInvalidConfiguration = "InvalidConfiguration";

// Where a backendRef leads.
struct Backend {
  std::string host;  // "" where it leads nowhere: its share of the requests fails
  uint32_t port = 0;
  MaybeError error;
  bool fatal = false;                    // the error ends the whole route's translation
  std::optional<EndpointPicker> picker;  // of an InferencePool
};
Backend ResolveBackend(const RouteView& view, config::Node reference);

// A backend with its share.
struct WeightedBackend {
  config::Node reference;
  int32_t weight = 0;  // 0 where it is the only one
};
// Those with a share. *total: the sum of all shares.
std::vector<WeightedBackend> WeightedBackends(config::Node references, int64_t* total);

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_CONVERSION_BACKEND_H_
