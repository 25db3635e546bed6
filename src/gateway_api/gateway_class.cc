#include "gateway_api/gateway_class.h"

#include "config/tree.h"
#include "gateway_api/names.h"

namespace fairlead::gateway_api {
namespace {

constexpr ControllerInfo kManaged = {.remote = false, .listener_sets = true};
constexpr ControllerInfo kRemote = {.remote = true, .listener_sets = false};

}  // namespace

const ControllerInfo* FindController(std::string_view controller, const model::Features& features) {
  if (features.network_gateways && controller == kRemoteController) return &kRemote;
  return controller == features.gateway_controller ? &kManaged : nullptr;
}

const ControllerInfo* FindBuiltinClass(std::string_view name, const model::Features& features) {
  if (features.network_gateways && name == kRemoteClass) return &kRemote;
  return name == features.gateway_class ? &kManaged : nullptr;
}

GatewayClass FindGatewayClass(std::string_view name, Lookups& lookups) {
  GatewayClass found{std::string(name), nullptr};
  if (const config::ConfigPtr object = lookups.Find(config::Kind::kGatewayClass, "", name)) {
    const config::Node spec = object->Spec<config::Tree>().Find("spec");
    found.info = FindController(spec.Find("controllerName").String(), lookups.features());
  }
  // A class of that name that another controller handles does not hide the built-in one.
  if (found.info == nullptr) found.info = FindBuiltinClass(name, lookups.features());
  return found;
}

}  // namespace fairlead::gateway_api
