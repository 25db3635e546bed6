#ifndef FAIRLEAD_INJECTION_PROBES_H_
#define FAIRLEAD_INJECTION_PROBES_H_

#include <nlohmann/json.hpp>

namespace fairlead::injection {

// Sends the kubelet's probes of containers, and the hooks of their lives, to the agent, which asks the
// application: the kubelet could not get through mutual TLS. The agent is told by ISTIO_KUBE_APP_PROBERS. The
// annotation sidecar.istio.io/rewriteAppHTTPProbers beats `by_default`. Without a sidecar nothing changes.
void RewriteProbes(bool by_default, int status_port, nlohmann::json* pod);

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_PROBES_H_
