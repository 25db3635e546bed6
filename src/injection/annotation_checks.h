#ifndef FAIRLEAD_INJECTION_ANNOTATION_CHECKS_H_
#define FAIRLEAD_INJECTION_ANNOTATION_CHECKS_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace istio::mesh::v1alpha1 {
class ProxyConfig;
}

namespace fairlead::injection {

// Refuses a pod for annotations that Istio reads and whose values it cannot use: InvalidArgument that lists
// all of them in Istio's words, in the order of their names. Pure.
absl::Status CheckAnnotations(const nlohmann::json& annotations);

// What is wrong with a ProxyConfig over the defaults, in Istio's words.
std::vector<std::string> ProxyConfigMistakes(const istio::mesh::v1alpha1::ProxyConfig& proxy);

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_ANNOTATION_CHECKS_H_
