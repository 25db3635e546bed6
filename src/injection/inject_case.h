#ifndef FAIRLEAD_INJECTION_INJECT_CASE_H_
#define FAIRLEAD_INJECTION_INJECT_CASE_H_

#include <string>

#include "absl/status/statusor.h"
#include "injection/template_engine.h"

namespace fairlead::injection {

// Answers the question that a folder holds, as one JSON object. Its files: injector.yaml and values.yaml, the
// two members of the injector's ConfigMap; review.json, an AdmissionReview of a pod; request.json, the
// request's path and what istiod is told (revision, cluster, nodes, nativeSidecars, platform,
// compliancePolicy, env). Where they matter: mesh.yaml, proxyconfigs.yaml, namespace.yaml, webhooks.yaml,
// workload.yaml. An error names a file that cannot be read. Blocks for the engine.
absl::StatusOr<std::string> AnswerCase(const std::string& folder, TemplateEngine& engine);

// The documents of a text in YAML. InvalidArgument names the line.
absl::StatusOr<std::vector<nlohmann::json>> ReadDocuments(std::string_view text);

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_INJECT_CASE_H_
