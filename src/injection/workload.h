#ifndef FAIRLEAD_INJECTION_WORKLOAD_H_
#define FAIRLEAD_INJECTION_WORKLOAD_H_

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "injection/configuration.h"

namespace fairlead::injection {

// What workloads of files are injected with: as Istio does it without a cluster, only the template named
// sidecar and the templates that a pod asks for count; no aliases, selectors, policy or injectedAnnotations.
struct WorkloadInjection {
  InjectorTexts texts;
  model::MeshConfigPtr mesh;
  std::map<std::string, std::string> environment;
  InjectorConfigurationPtr configuration;  // of the texts with the mesh
  std::string revision;
  bool native = false;
};

struct WorkloadAnswer {
  nlohmann::json object;              // the workload with its pods injected, or as it was
  std::vector<std::string> warnings;  // why it is as it was
};

// Whether documents of a kind have pods to inject: Deployment, Pod, CronJob, List and others.
bool HasPods(const nlohmann::json& document);

// A workload with its sidecar. InvalidArgument where the document or a template is wrong; else the engine's
// error. Blocks for the engine. REQUIRES: HasPods.
absl::StatusOr<WorkloadAnswer> InjectWorkload(const nlohmann::json& document,
                                              const WorkloadInjection& injection, TemplateEngine& engine);

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_WORKLOAD_H_
