#ifndef FAIRLEAD_CONTROLLERS_GATEWAY_PLAN_H_
#define FAIRLEAD_CONTROLLERS_GATEWAY_PLAN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/store.h"
#include "gateway_api/revision.h"
#include "injection/gateway_templates.h"
#include "model/features.h"

namespace fairlead::controllers {

// The annotation by which releases of the controller tell whose Gateway it is; the larger number wins. It is
// read alone: an API server takes no annotation with a status, which is all of a Gateway that is written.
inline constexpr char kControllerVersion[] = "gateway.istio.io/controller-version";
inline constexpr int kOwnControllerVersion = 5;  // as Istio's since 1.18

// What decides about deployments besides the objects. A plain value.
struct GatewayPlanSettings {
  model::Features features;
  bool quic = false;                              // whether HTTPS has a port for UDP, too
  bool copy_metadata = true;                      // whether the Gateway's own labels and annotations count
  std::string system_namespace = "istio-system";  // of the class defaults
  std::string cluster, revision;                  // of the control plane
  gateway_api::OwnRevisions revisions{"", "default"};  // whose Gateways it deploys
  int kubernetes_version = 0;                          // 134 for 1.34

  friend bool operator==(const GatewayPlanSettings&, const GatewayPlanSettings&) = default;
};

// What becomes of one Gateway.
struct GatewayPlan {
  injection::GatewayQuestion question;
  std::string error;          // why its objects cannot be made, as Istio says it; "": they can
  std::string field_manager;  // of all that is applied
};

// The plans of all Gateways that this control plane deploys. Pure, but for what it keeps of the objects.
// Source: Istio's Reconcile and configureIstioGateway,
// pilot/pkg/config/kube/gatewaycommon/deploymentcontroller.go.
std::map<config::ObjectKey, GatewayPlan> PlanGateways(const config::ObjectStore& objects,
                                                      const GatewayPlanSettings& settings);

// Whether the objects differ in something that PlanGateways reads.
bool PlansMayDiffer(const config::ObjectStore& a, const config::ObjectStore& b);

}  // namespace fairlead::controllers

#endif  // FAIRLEAD_CONTROLLERS_GATEWAY_PLAN_H_
