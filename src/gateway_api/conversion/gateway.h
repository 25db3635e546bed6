#ifndef FAIRLEAD_GATEWAY_API_CONVERSION_GATEWAY_H_
#define FAIRLEAD_GATEWAY_API_CONVERSION_GATEWAY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/object.h"
#include "gateway_api/conversion/listener.h"
#include "gateway_api/error.h"
#include "gateway_api/gateway_class.h"
#include "gateway_api/lookups.h"
#include "gateway_api/parent.h"

namespace fairlead::gateway_api {

// What becomes of a ListenerSet at its Gateway.
struct ListenerSetConversion {
  enum class Outcome : uint8_t {
    kUnsupported,     // the class knows no ListenerSets
    kNotAllowed,      // the Gateway does not take those of the namespace
    kWithoutAddress,  // the Gateway has no usable address: its listeners are not looked at
    kConverted,
  };
  config::ConfigPtr object;
  Outcome outcome = Outcome::kConverted;
  std::vector<ConvertedListener> listeners;
  bool AnyValid() const;
};

// All that a Gateway and its ListenerSets come to.
struct GatewayConversion {
  enum class Outcome : uint8_t {
    kNotOurs,         // its class is another controller's
    kRemote,          // of another cluster: accepted, but not configured
    kWithoutAddress,  // it has no usable address: its listeners are not looked at
    kConverted,
  };
  config::ConfigPtr object;
  Outcome outcome = Outcome::kNotOurs;
  GatewayClass gateway_class;
  std::vector<std::string> services;  // hosts of the Services where the gateway's proxies are
  MaybeError address_error;           // of addresses and annotations
  MaybeError error;                   // that, else of parameters
  MaybeError backend_certificate_error;
  std::vector<ConvertedListener> listeners;
  std::vector<ListenerSetConversion> sets;

  // What routes can be attached to, by Gateway and ListenerSet.
  std::vector<std::pair<config::ObjectKey, ParentsPtr>> parents;
  // Istio Gateways, one for each good listener, each with the Gateway or ListenerSet that has the listener.
  std::vector<std::pair<config::ObjectKey, config::ConfigPtr>> derived;
};
using GatewayConversionPtr = std::shared_ptr<const GatewayConversion>;

GatewayConversion ConvertGateway(const config::ConfigPtr& gateway, Lookups& lookups);

// The Gateway that a ListenerSet names, whatever kind it says that is.
config::ObjectKey GatewayOfSet(const config::ConfigObject& set);

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_CONVERSION_GATEWAY_H_
