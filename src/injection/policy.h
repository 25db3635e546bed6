#ifndef FAIRLEAD_INJECTION_POLICY_H_
#define FAIRLEAD_INJECTION_POLICY_H_

#include <nlohmann/json.hpp>

#include "injection/configuration.h"

namespace fairlead::injection {

// Whether a pod is injected: by its namespace, its network, its label or annotation sidecar.istio.io/inject,
// the configuration's selectors and its policy. Pure.
bool WantsInjection(const nlohmann::json& pod, const InjectorConfiguration& configuration);

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_POLICY_H_
