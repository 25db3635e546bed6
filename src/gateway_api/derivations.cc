#include "gateway_api/derivations.h"

#include "gateway_api/derivation.h"

namespace fairlead::gateway_api {

std::vector<std::unique_ptr<state::Derivation>> MakeDerivations() {
  std::vector<std::unique_ptr<state::Derivation>> steps;
  steps.push_back(std::make_unique<GatewayApiDerivation>());
  return steps;
}

}  // namespace fairlead::gateway_api
