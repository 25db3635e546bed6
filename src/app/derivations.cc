#include "app/derivations.h"

#include "gateway_api/derivation.h"
#include "ingress/derivation.h"

namespace fairlead::app {

std::vector<std::unique_ptr<state::Derivation>> MakeDerivations(std::string_view ingress_namespace) {
  std::vector<std::unique_ptr<state::Derivation>> all;
  all.push_back(std::make_unique<gateway_api::GatewayApiDerivation>());
  all.push_back(ingress::NewIngressDerivation(ingress_namespace));
  return all;
}

}  // namespace fairlead::app
