#ifndef FAIRLEAD_SOURCE_COPILOT_COPILOT_OPTIONS_H_
#define FAIRLEAD_SOURCE_COPILOT_COPILOT_OPTIONS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "source/platform/source_url.h"

namespace fairlead::source {

inline constexpr int kCopilotPort = 9000;

// What a URL copilot://HOST:9000?… says. See docs/sources/copilot.md.
struct CopilotOptions {
  SourceUrl url;
  PlatformOptions platform;                // of these TLS and the namespace
  uint32_t port = 8080;                    // of the services
  std::string internal_protocol = "http";  // of internal routes
  std::vector<std::string> gateways = {};  // of VirtualServices of external routes; none: the mesh

  std::chrono::milliseconds interval{5'000};               // from an answer to the next question
  std::chrono::milliseconds connect{5'000}, call{15'000};  // time limits
  std::chrono::milliseconds first_backoff{500}, most_backoff{30'000};
  size_t most_message = 64 << 20;  // bytes of an answer
  uint64_t seed = 0;               // of the jitter
};

// InvalidArgument names the option.
absl::StatusOr<CopilotOptions> ParseCopilotOptions(std::string_view url);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_COPILOT_COPILOT_OPTIONS_H_
