#ifndef FAIRLEAD_AGENT_BOOTSTRAP_PROXY_CONFIG_H_
#define FAIRLEAD_AGENT_BOOTSTRAP_PROXY_CONFIG_H_

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "agent/options.h"

namespace fairlead::agent {

// The texts that make the effective ProxyConfig, each laid over the one before; "": none.
struct ProxyConfigTexts {
  std::string mesh, mesh_file;   // a MeshConfig, whose defaultConfig counts, and its file's name
  std::string_view environment;  // PROXY_CONFIG
};

// Makes the effective ProxyConfig (Options::proxy_config) of Istio's defaults, these texts, and the pod's
// annotations (Options::annotations), and fills the options that it decides. InvalidArgument names the text,
// line and field of a mistake; unknown fields become remarks. May look up the name in statsdUdpAddress.
// Source: pilot-agent, config.ConstructProxyConfig.
absl::Status ApplyProxyConfig(const ProxyConfigTexts& texts, Options* options);

// Puts what flags have set into Options::proxy_config, which is told to the control plane.
void TellFlags(Options* options);

// "45s", "1m30s", "250ms": Go's form, which covers protobuf's.
std::optional<std::chrono::milliseconds> ParseDuration(std::string_view text);

// Protobuf's form in JSON: "45s", "0.250s".
std::string DurationText(std::chrono::milliseconds duration);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_BOOTSTRAP_PROXY_CONFIG_H_
