#ifndef FAIRLEAD_REGISTRY_KUBERNETES_WORKLOAD_NAME_H_
#define FAIRLEAD_REGISTRY_KUBERNETES_WORKLOAD_NAME_H_

#include <string>

#include "config/object.h"

namespace fairlead::registry {

// What a pod's workload is called in telemetry: the label service.istio.io/workload-name, else by its
// controller the Deployment, Rollout, DeploymentConfig, CronJob or the controller itself, else the pod's own
// name. Guessed from the names and labels that the controllers give, since the pod's owner's owner is not
// known here.
std::string WorkloadNameOfPod(const config::ObjectMeta& pod);

}  // namespace fairlead::registry

#endif  // FAIRLEAD_REGISTRY_KUBERNETES_WORKLOAD_NAME_H_
