#ifndef FAIRLEAD_GATEWAY_API_CONVERSION_GATEWAY_ADDRESS_H_
#define FAIRLEAD_GATEWAY_API_CONVERSION_GATEWAY_ADDRESS_H_

#include <string>
#include <string_view>
#include <vector>

#include "config/object.h"
#include "gateway_api/error.h"
#include "gateway_api/gateway_class.h"

namespace fairlead::gateway_api {

struct GatewayAddress {
  std::vector<std::string> services;  // hosts of Services
  MaybeError error;                   // may be there beside services
};

// The Services whose pods are a Gateway's proxies: its own one where it is managed, else those that its
// addresses name. See https://istio.io/latest/docs/tasks/traffic-management/ingress/gateway-api.
GatewayAddress AddressOf(const config::ConfigObject& gateway, const GatewayClass& gateway_class,
                         std::string_view domain);

// Of the addresses that are of a kind Istio knows only of a managed Gateway; of one that is not, the host
// names are known only.
bool IsManaged(const config::ConfigObject& gateway);

// The name of the Service, and of all else, that Istio's controller makes for a managed Gateway.
std::string GatewayServiceName(const config::ConfigObject& gateway, const GatewayClass& gateway_class);

// The service account that the proxies must have; "" where it may be any.
std::string GatewayServiceAccount(const config::ConfigObject& gateway, const GatewayClass& gateway_class);

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_CONVERSION_GATEWAY_ADDRESS_H_
