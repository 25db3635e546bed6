#ifndef FAIRLEAD_GEN_PATCH_GATEWAY_ROUTE_NAME_H_
#define FAIRLEAD_GEN_PATCH_GATEWAY_ROUTE_NAME_H_

#include <cstdint>
#include <string>
#include <string_view>

// The meaning of a router's route configuration name for EnvoyFilters. Pure.
namespace fairlead::gen::patch {

// Of "http.PORT" and "https.PORT.PORTNAME.GATEWAY.NAMESPACE". Other names, such as those of servers with an
// address of their own, say nothing.
struct GatewayRouteName {
  uint32_t port = 0;
  std::string_view port_name;  // of the parsed text
  std::string gateway;         // "namespace/name"
};

// Source: Istio's ParseGatewayRDSRouteName.
GatewayRouteName ParseGatewayRouteName(std::string_view name);

// A text that is a number and nothing else, or 0.
uint32_t NumberOf(std::string_view text);

}  // namespace fairlead::gen::patch

#endif  // FAIRLEAD_GEN_PATCH_GATEWAY_ROUTE_NAME_H_
