#ifndef FAIRLEAD_INJECTION_GATEWAY_TEMPLATES_H_
#define FAIRLEAD_INJECTION_GATEWAY_TEMPLATES_H_

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/labels.h"
#include "injection/configuration.h"
#include "injection/surroundings.h"
#include "injection/template_engine.h"

namespace fairlead::injection {

// A Gateway whose deployment is wanted, as the template of its class sees it.
struct GatewayQuestion {
  std::string template_name;            // "kube-gateway"
  nlohmann::json gateway;               // the object: metadata and spec
  std::string gateway_class;            // its name
  std::string deployment_name;          // of the Deployment, the Service and all but
  std::string service_account;          // the ServiceAccount
  nlohmann::json ports;                 // of the Service, as Kubernetes writes them
  std::string service_type;             // "LoadBalancer"
  std::string controller_label;         // "istio.io-gateway-controller"
  std::string cluster, revision;        // of the control plane
  int kubernetes_version = 0;           // 134 for 1.34
  LabelMap labels, annotations;         // for all of it
  LabelMap namespace_annotations = {};  // of the Gateway's namespace

  // The data of ConfigMaps, in the order in which they are laid over the objects.
  std::vector<std::map<std::string, std::string>> overlays = {};

  friend bool operator==(const GatewayQuestion&, const GatewayQuestion&) = default;
};

// The request to the template program. It says all that RenderGateway depends on, but for the templates
// themselves.
std::string GatewayRequest(const GatewayQuestion& question, const InjectorConfiguration& configuration,
                           const PodSurroundings& surroundings);

// The objects of a Gateway's deployment, in the order of the template's output, with the overlays.
// HorizontalPodAutoscalers and PodDisruptionBudgets are left out that no overlay is for. `request`: the
// question's. InvalidArgument, as Istio says it, where a template or an overlay is wrong; else the engine's
// error. Blocks.
// Source: Istio's render and applyOverlay, pilot/pkg/config/kube/gatewaycommon/deploymentcontroller.go.
absl::StatusOr<std::vector<nlohmann::json>> RenderGateway(const GatewayQuestion& question,
                                                          const std::string& request,
                                                          const InjectorConfiguration& configuration,
                                                          TemplateEngine& engine);

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_GATEWAY_TEMPLATES_H_
