#ifndef FAIRLEAD_SOURCE_MCP_MCP_OPTIONS_H_
#define FAIRLEAD_SOURCE_MCP_MCP_OPTIONS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "config/kind.h"
#include "source/platform/source_url.h"

namespace fairlead::source {

inline constexpr int kMcpPort = 15010;

// What a URL xds://HOST:15010,…?… says. See docs/sources/mcp.md.
struct McpOptions {
  SourceUrl url;
  PlatformOptions platform;         // of these TLS, the token and the selector
  bool delta = false;               // incremental xDS, else state of the world
  bool services = false;            // whether ServiceEntries "synthetic-…" of services count
  std::string node = {};            // id of the node, as a proxy has it
  std::vector<config::Kind> kinds;  // that are asked for
  bool deny_lost = false;  // a policy that cannot be read and has no earlier version denies all requests

  std::chrono::milliseconds connect{5'000};  // time limit
  // A type without an answer counts as empty so long after the last answer, once there was one.
  std::chrono::milliseconds patience{5'000};
  std::chrono::milliseconds first_backoff{200}, most_backoff{15'000};
  size_t most_message = 64 << 20;  // bytes of a response
  size_t most_objects = 500'000;
  uint64_t seed = 0;  // of the jitter
};

// InvalidArgument names the option.
absl::StatusOr<McpOptions> ParseMcpOptions(std::string_view url);

// Every kind that servers of MCP have: Istio's and the Gateway API's.
std::vector<config::Kind> McpKinds();
// "networking.istio.io/v1/VirtualService".
std::string McpTypeUrl(config::Kind kind);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_MCP_MCP_OPTIONS_H_
