#ifndef FAIRLEAD_SOURCE_COPILOT_COPILOT_MESSAGES_H_
#define FAIRLEAD_SOURCE_COPILOT_COPILOT_MESSAGES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

// The answers of Cloud Foundry's Copilot that the source reads, in protobuf's wire format. Pure. Unknown
// fields are passed over. Source: api/protos/istio.proto of github.com/cloudfoundry-attic/copilot, until its
// commit 1f2ce214 of October 2018:
//   service api.IstioCopilot: Routes, InternalRoutes
namespace fairlead::source {

inline constexpr char kCopilotRoutes[] = "/api.IstioCopilot/Routes";
inline constexpr char kCopilotInternalRoutes[] = "/api.IstioCopilot/InternalRoutes";

struct CopilotBackend {
  std::string address;
  uint32_t port = 0;
  friend auto operator<=>(const CopilotBackend&, const CopilotBackend&) = default;
};

// A route of a process (RouteWithBackends), or an internal one (InternalRouteWithBackends).
struct CopilotRoute {
  std::string host, path, process, vip;  // `path`: "/api", "" for all; `process`: capi_process_guid
  int64_t weight = 0;                    // of a hundred; 0: not said
  std::vector<CopilotBackend> backends;
  friend auto operator<=>(const CopilotRoute&, const CopilotRoute&) = default;
};

inline constexpr size_t kMostCopilotRoutes = 100'000;
inline constexpr size_t kMostCopilotBackends = 10'000;  // of a route

// RoutesResponse and InternalRoutesResponse. InvalidArgument for malformed bytes, and beyond the bounds.
absl::StatusOr<std::vector<CopilotRoute>> DecodeCopilotRoutes(std::string_view bytes);
absl::StatusOr<std::vector<CopilotRoute>> DecodeCopilotInternalRoutes(std::string_view bytes);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_COPILOT_COPILOT_MESSAGES_H_
