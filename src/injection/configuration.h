#ifndef FAIRLEAD_INJECTION_CONFIGURATION_H_
#define FAIRLEAD_INJECTION_CONFIGURATION_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "injection/selector.h"
#include "injection/template_engine.h"
#include "injection/values.h"
#include "model/settings.h"

namespace fairlead::injection {

// The two texts of the injector's ConfigMap.
struct InjectorTexts {
  std::string config, values;
  friend bool operator==(const InjectorTexts&, const InjectorTexts&) = default;
};

// An injector's configuration, read. Immutable.
struct InjectorConfiguration {
  TemplateSetPtr set;
  std::string policy;
  std::vector<std::string> default_templates;
  std::map<std::string, std::vector<std::string>> aliases;
  std::vector<Selector> never_inject, always_inject;  // those that can be read
  LabelMap injected_annotations;
  std::vector<std::string> templates;  // all names, sorted
  Values values;
  model::MeshConfigPtr mesh;
};
using InjectorConfigurationPtr = std::shared_ptr<const InjectorConfiguration>;

// Reads the texts with the mesh's settings. `environment` goes before the process's own variables for
// templates. InvalidArgument, as Istio says it, where a text is wrong; else the engine's error. Blocks.
absl::StatusOr<InjectorConfigurationPtr> LoadConfiguration(
    const InjectorTexts& texts, model::MeshConfigPtr mesh,
    const std::map<std::string, std::string>& environment, TemplateEngine& engine);

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_CONFIGURATION_H_
