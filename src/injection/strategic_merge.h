#ifndef FAIRLEAD_INJECTION_STRATEGIC_MERGE_H_
#define FAIRLEAD_INJECTION_STRATEGIC_MERGE_H_

#include <nlohmann/json.hpp>

#include "absl/status/statusor.h"
#include "injection/kubernetes_types.h"

namespace fairlead::injection {

// A strategic merge patch applied to an object of a Kubernetes type: lists are merged by the keys that the
// type names, null deletes, `$patch`, `$retainKeys`, `$setElementOrder/…` and `$deleteFromPrimitiveList/…`
// direct. The result may not fit the type. InvalidArgument with Kubernetes' own text where the patch is
// wrong. Pure. Source:
// https://git.k8s.io/community/contributors/devel/sig-api-machinery/strategic-merge-patch.md.
absl::StatusOr<nlohmann::json> StrategicMerge(nlohmann::json original, nlohmann::json patch,
                                              const GoStruct& type);

// The same and then ReadTyped; the errors of either say which it was, as Istio's.
absl::StatusOr<nlohmann::json> Overlay(const nlohmann::json& original, nlohmann::json patch,
                                       const GoStruct& type);

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_STRATEGIC_MERGE_H_
