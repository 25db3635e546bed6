#ifndef FAIRLEAD_APP_DERIVATIONS_H_
#define FAIRLEAD_APP_DERIVATIONS_H_

#include <memory>
#include <string>
#include <vector>

#include "app/discovery_options.h"
#include "gateway_api/deployments.h"
#include "state/derivation.h"

namespace fairlead::app {

struct DerivationOptions {
  std::string ingress_namespace = "istio-system";  // where the Gateways of Ingresses live
  // Whether to make what a cluster's controllers would: EndpointSlices of Pods, Services of Gateways. Where
  // no API server is read: folders and platforms have no controllers.
  bool controllers = false;
  bool endpoints_from_pods = true;                  // where there are controllers
  gateway_api::GatewayAddresses gateway_addresses;  // of Gateways whose proxies have no Pod
};
// For the sources that the options name.
DerivationOptions DerivationOptionsOf(const DiscoveryOptions& options);

// The steps that make objects of objects, in their order.
std::vector<std::unique_ptr<state::Derivation>> MakeDerivations(const DerivationOptions& options = {});

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_DERIVATIONS_H_
