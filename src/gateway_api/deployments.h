#ifndef FAIRLEAD_GATEWAY_API_DEPLOYMENTS_H_
#define FAIRLEAD_GATEWAY_API_DEPLOYMENTS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "state/derivation.h"

// What Istio's controller of Gateways makes for each managed one, as far as a mesh reads it: a folder of
// manifests has nobody who would. Source: Istio's kube-gateway template and its documentation, "Automated
// deployment" of gateways.
namespace fairlead::gateway_api {

// Where the proxies of Gateways run that have no Pod: IP addresses by "NAME.NAMESPACE".
using GatewayAddresses = std::map<std::string, std::vector<std::string>>;

// Of "NAME.NAMESPACE=ADDRESS" each; InvalidArgument with the text that is none.
absl::StatusOr<GatewayAddresses> ParseGatewayAddresses(const std::vector<std::string>& texts);

// The step that makes, for each Gateway of Istio's class that is managed:
// - the Service NAME-CLASS, unless it is written. It has no virtual address. Its external ones are those that
// the
//   Gateway asks for, else those of its Pods.
// - a Pod for each address of `addresses`, and of EndpointSlices that are written for the Service, that no
// Pod
//   has. It runs as the account NAME-CLASS.
// - the label gateway.networking.k8s.io/gateway-name for Pods without it that run as that account, are picked
// by
//   the written Service, or have such an address.
std::unique_ptr<state::Derivation> NewDeploymentsDerivation(GatewayAddresses addresses);

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_DEPLOYMENTS_H_
