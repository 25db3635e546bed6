#ifndef FAIRLEAD_GATEWAY_API_GATEWAY_CLASS_H_
#define FAIRLEAD_GATEWAY_API_GATEWAY_CLASS_H_

#include <string>
#include <string_view>

#include "gateway_api/lookups.h"
#include "model/features.h"

namespace fairlead::gateway_api {

// What the controller of a GatewayClass means for its Gateways.
struct ControllerInfo {
  bool remote = false;         // Gateways of another cluster: announced, not configured
  bool listener_sets = false;  // whether ListenerSets may be attached
};

// Null where the controller is not one of Istio's (without ambient mode).
const ControllerInfo* FindController(std::string_view controller, const model::Features& features);

// Of the classes that are there without an object: "istio" (Features::gateway_class) and "istio-remote".
// Null: none of them has the name.
const ControllerInfo* FindBuiltinClass(std::string_view name, const model::Features& features);

struct GatewayClass {
  std::string name;
  const ControllerInfo* info = nullptr;  // null: the class is another controller's
};

// The class of a Gateway, of an object or built in.
GatewayClass FindGatewayClass(std::string_view name, Lookups& lookups);

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_GATEWAY_CLASS_H_
