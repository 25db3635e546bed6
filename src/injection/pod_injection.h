#ifndef FAIRLEAD_INJECTION_POD_INJECTION_H_
#define FAIRLEAD_INJECTION_POD_INJECTION_H_

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "injection/configuration.h"
#include "injection/owner.h"
#include "injection/surroundings.h"

namespace fairlead::injection {

// One pod that is to be injected, and all that decides about it.
struct PodInjection {
  nlohmann::json pod;  // as ReadTyped gives it
  Owner owner;
  InjectorConfigurationPtr configuration;
  std::vector<std::string> default_templates;
  std::map<std::string, std::vector<std::string>> aliases;
  LabelMap injected_annotations;
  ProxyConfig proxy;
  std::map<std::string, std::string> variables;  // of the path
  std::string revision, compliance_policy;
  bool native = false;
  ProxyIds ids;
};

// The pod with its sidecar. InvalidArgument, in Istio's words, where the pod or a template is wrong; else the
// engine's error. Blocks for the engine.
absl::StatusOr<nlohmann::json> InjectPod(const PodInjection& injection, TemplateEngine& engine);

// The cluster and the network of a pod: of the path, or of the values; a label of the pod names the network
// first.
struct Place {
  std::string cluster, network;
};
Place PlaceOf(const nlohmann::json& pod, const Values& values,
              const std::map<std::string, std::string>& variables);

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_POD_INJECTION_H_
