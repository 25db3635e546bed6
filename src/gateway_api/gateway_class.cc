#include "gateway_api/gateway_class.h"

#include "config/tree.h"
#include "gateway_api/names.h"

namespace fairlead::gateway_api {
namespace {

constexpr ControllerInfo kControllers[] = {
    {.controller = kGatewayController, .remote = false, .listener_sets = true},
    {.controller = kRemoteController, .remote = true, .listener_sets = false},
};

struct BuiltinClass {
  std::string_view name, controller;
};
constexpr BuiltinClass kBuiltinClasses[] = {
    {"istio", kGatewayController},
    {"istio-remote", kRemoteController},
};

}  // namespace

const ControllerInfo* FindController(std::string_view controller) {
  for (const ControllerInfo& info : kControllers) {
    if (info.controller == controller) return &info;
  }
  return nullptr;
}

GatewayClass FindGatewayClass(std::string_view name, World& world) {
  GatewayClass found{std::string(name), nullptr};
  if (const config::ConfigPtr object = world.Find(config::Kind::kGatewayClass, "", name)) {
    const config::Node spec = object->Spec<config::Tree>().Find("spec");
    found.info = FindController(spec.Find("controllerName").String());
  }
  if (found.info != nullptr) return found;
  // A class of that name that another controller handles does not hide the built-in one.
  for (const BuiltinClass& builtin : kBuiltinClasses) {
    if (builtin.name == name) found.info = FindController(builtin.controller);
  }
  return found;
}

}  // namespace fairlead::gateway_api
