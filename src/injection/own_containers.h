#ifndef FAIRLEAD_INJECTION_OWN_CONTAINERS_H_
#define FAIRLEAD_INJECTION_OWN_CONTAINERS_H_

#include <nlohmann/json.hpp>

#include "absl/status/statusor.h"

namespace fairlead::injection {

// The pod that templates see: without the containers of an earlier injection, and with the pod's own that
// were merged with those. InvalidArgument where the annotation that keeps them cannot be read. Pure.
absl::StatusOr<nlohmann::json> WithoutInjected(const nlohmann::json& pod, int status_port);

// Lays the containers that both the original pod and the templates have over the merged pod once more, so
// that the pod's own settings win, and keeps them in an annotation for the next injection. Pure.
absl::StatusOr<nlohmann::json> ReapplyOwnContainers(nlohmann::json merged, const nlohmann::json& original,
                                                    const nlohmann::json& given, bool transparent_proxy);

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_OWN_CONTAINERS_H_
