#ifndef FAIRLEAD_INJECTION_PROMETHEUS_H_
#define FAIRLEAD_INJECTION_PROMETHEUS_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "absl/status/status.h"

// The annotations by which Prometheus finds a pod's metrics. The agent serves those of the pod and of Envoy
// together, so that the pod's annotations go to the agent and are replaced by the agent's.
namespace fairlead::injection {

// The value of prometheus.io/port, however it is spelled; nothing without one.
std::optional<std::string> PrometheusPort(const nlohmann::json& pod);

// Takes the annotations out, in every spelling.
void ClearPrometheus(nlohmann::json* pod);

// Replaces the annotations by the agent's, unless the pod does not want it. `by_default` is the mesh's
// setting. InvalidArgument where the pod names a port that cannot be read.
absl::Status MergePrometheus(bool by_default, int status_port, nlohmann::json* pod);

// Tells the port of merged metrics behind mutual TLS, if the sidecar has one.
void SetSecurePort(nlohmann::json* pod);

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_PROMETHEUS_H_
