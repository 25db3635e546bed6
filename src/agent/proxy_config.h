#ifndef FAIRLEAD_AGENT_PROXY_CONFIG_H_
#define FAIRLEAD_AGENT_PROXY_CONFIG_H_

#include <chrono>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "agent/options.h"

namespace fairlead::agent {

// Lays a ProxyConfig (istio.mesh.v1alpha1.ProxyConfig as YAML or JSON) over the options, and into the
// metadata as PROXY_CONFIG, where the control plane reads it. InvalidArgument names the line or field that
// cannot be read.
absl::Status ApplyProxyConfig(std::string_view text, Options* options);

// "45s", "1m30s", "250ms": Go's form, which covers protobuf's.
std::optional<std::chrono::milliseconds> ParseDuration(std::string_view text);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_PROXY_CONFIG_H_
