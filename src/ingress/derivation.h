#ifndef FAIRLEAD_INGRESS_DERIVATION_H_
#define FAIRLEAD_INGRESS_DERIVATION_H_

#include <memory>
#include <string_view>

#include "state/derivation.h"

namespace fairlead::ingress {

// Makes Gateways and VirtualServices of Kubernetes Ingresses: a Gateway each, a VirtualService for each host.
// What is made costs what changed: an Ingress that changes concerns its hosts alone, a class its Ingresses, a
// service those that name its ports. `gateway_namespace`: where the Gateways live, and the Secrets that they
// name (K8S_INGRESS_NS).
std::unique_ptr<state::Derivation> NewIngressDerivation(std::string_view gateway_namespace);

}  // namespace fairlead::ingress

#endif  // FAIRLEAD_INGRESS_DERIVATION_H_
