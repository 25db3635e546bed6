#ifndef FAIRLEAD_SIMULATE_GATEWAY_PODS_H_
#define FAIRLEAD_SIMULATE_GATEWAY_PODS_H_

#include <string>
#include <vector>

#include "base/interned.h"
#include "config/object.h"
#include "simulate/loaded_mesh.h"
#include "simulate/made_up.h"

// The pods that are routers, with their Gateways. Pure.
namespace fairlead::simulate {

// Whether a pod is a router. The reason may be injection with the gateway template, a Gateway API Gateway
// (label or Service), or a Gateway of Istio's API that selects it.
bool IsRouter(const LoadedMesh& mesh, const config::ConfigObject& pod);

// The first pod that serves a Gateway of either API; null where there is none.
config::ConfigPtr PodOfGateway(const LoadedMesh& mesh, const Interned& ns, const Interned& name);

// A note for a reader who means the Gateway by the name of a pod that is no router; "" where there is no
// doubt.
std::string DoubtAboutGateway(const LoadedMesh& mesh, const Interned& ns, const Interned& name);

// The routers of Gateways for which the manifests have neither a Pod nor a template. A Gateway API Gateway of
// one of Istio's classes that Istio would deploy gives the Deployment that Istio's controller makes. A
// Gateway of Istio's API gives a workload in its namespace with the labels of its selector, once for each
// selector. Source:
// https://istio.io/latest/docs/tasks/traffic-management/ingress/gateway-api/#deployment-methods.
std::vector<WorkloadTemplate> MissingRouters(const std::vector<WorkloadTemplate>& templates,
                                             const Objects& objects);

}  // namespace fairlead::simulate

#endif  // FAIRLEAD_SIMULATE_GATEWAY_PODS_H_
