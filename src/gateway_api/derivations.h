#ifndef FAIRLEAD_GATEWAY_API_DERIVATIONS_H_
#define FAIRLEAD_GATEWAY_API_DERIVATIONS_H_

#include <memory>
#include <vector>

#include "state/derivation.h"

namespace fairlead::gateway_api {

// The steps that derive objects in every mesh, in their order.
std::vector<std::unique_ptr<state::Derivation>> MakeDerivations();

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_DERIVATIONS_H_
