#ifndef FAIRLEAD_REGISTRY_KUBERNETES_SERVICE_H_
#define FAIRLEAD_REGISTRY_KUBERNETES_SERVICE_H_

#include <string>

#include "base/labels.h"
#include "config/object.h"
#include "model/service.h"
#include "model/settings.h"

namespace fairlead::registry {

// On a NodePort Service: it is a gateway that is reached at the external addresses of the nodes with these
// labels.
inline constexpr std::string_view kNodeSelectorAnnotation = "traffic.istio.io/nodeSelector";

// "reviews.default.svc.cluster.local".
std::string KubernetesHostname(std::string_view name, std::string_view ns, std::string_view domain);

// Whether the Service itself, by its annotation networking.istio.io/exportTo, is visible to nobody; false
// where only the mesh's default says so.
bool HidesItself(const model::Service& service);

// What a Kubernetes Service is to the mesh; aliases are not known here and stay empty.
// `namespace_annotations`: of its Namespace object, null where there is none.
model::Service ConvertKubernetesService(const config::ConfigPtr& object,
                                        const LabelMap* namespace_annotations,
                                        const model::Settings& settings);

}  // namespace fairlead::registry

#endif  // FAIRLEAD_REGISTRY_KUBERNETES_SERVICE_H_
