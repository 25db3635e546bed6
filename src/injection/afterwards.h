#ifndef FAIRLEAD_INJECTION_AFTERWARDS_H_
#define FAIRLEAD_INJECTION_AFTERWARDS_H_

#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "injection/pod_injection.h"

namespace fairlead::injection {

// The changes of a merged pod that no template makes: variables of the place, Prometheus, probes, the status,
// the order of containers. `given` is what the templates give. InvalidArgument where the pod asks for
// something that cannot be.
absl::Status FinishPod(const PodInjection& injection, const nlohmann::json& given, nlohmann::json* pod);

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_AFTERWARDS_H_
