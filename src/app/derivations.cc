#include "app/derivations.h"

#include "app/cluster_access.h"
#include "gateway_api/deployments.h"
#include "gateway_api/derivation.h"
#include "ingress/derivation.h"
#include "state/pod_slices.h"

namespace fairlead::app {

DerivationOptions DerivationOptionsOf(const DiscoveryOptions& options) {
  DerivationOptions made;
  made.ingress_namespace = options.environment.ingress_namespace;
  made.controllers = !ReadsCluster(options);
  made.endpoints_from_pods = options.environment.endpoints_from_pods;
  if (auto addresses = gateway_api::ParseGatewayAddresses(options.gateway_addresses); addresses.ok())
    made.gateway_addresses = *std::move(addresses);
  return made;
}

std::vector<std::unique_ptr<state::Derivation>> MakeDerivations(const DerivationOptions& options) {
  std::vector<std::unique_ptr<state::Derivation>> all;
  if (options.controllers) {
    all.push_back(gateway_api::NewDeploymentsDerivation(options.gateway_addresses));
    if (options.endpoints_from_pods) all.push_back(state::NewPodSlicesDerivation());
  }
  all.push_back(std::make_unique<gateway_api::GatewayApiDerivation>());
  all.push_back(ingress::NewIngressDerivation(options.ingress_namespace));
  return all;
}

}  // namespace fairlead::app
