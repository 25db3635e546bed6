#ifndef FAIRLEAD_AGENT_BOOTSTRAP_SECRET_CONFIGS_H_
#define FAIRLEAD_AGENT_BOOTSTRAP_SECRET_CONFIGS_H_

#include <string>
#include <string_view>

#include "agent/options.h"
#include "nlohmann/json.hpp"

namespace fairlead::agent {

// A secret of the agent's socket: envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig.
nlohmann::json AgentSecret(std::string_view name, bool wait_for_ever);

// The transport socket to a server that the ProxyConfig names, by its tlsSettings; null without TLS.
// `server_name`: SNI of ISTIO_MUTUAL without an sni. `http2`: named as the protocol.
// Source: pilot-agent, option.tlsContextConvert.
nlohmann::json RemoteTls(const Options& options, const nlohmann::json& settings, std::string_view server_name,
                         bool http2);

// The transport socket to the control plane: the workload shows its own certificate, and wants one that its
// roots vouch for.
nlohmann::json DiscoveryTls(const Options& options, const std::string& host);

// The transport socket of a listener that wants clients' certificates.
nlohmann::json MutualTls();

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_BOOTSTRAP_SECRET_CONFIGS_H_
