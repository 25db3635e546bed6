#ifndef FAIRLEAD_APP_DERIVATIONS_H_
#define FAIRLEAD_APP_DERIVATIONS_H_

#include <memory>
#include <string_view>
#include <vector>

#include "state/derivation.h"

namespace fairlead::app {

// The steps that make objects of objects, in their order. `ingress_namespace`: where the Gateways of
// Ingresses live.
std::vector<std::unique_ptr<state::Derivation>> MakeDerivations(
    std::string_view ingress_namespace = "istio-system");

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_DERIVATIONS_H_
