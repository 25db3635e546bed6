#ifndef FAIRLEAD_GEN_ROUTE_SEMANTICS_H_
#define FAIRLEAD_GEN_ROUTE_SEMANTICS_H_

#include <cstdint>

#include "config/object.h"

namespace fairlead::gen::route {

// The API behind a VirtualService. Ingresses and HTTPRoutes become VirtualServices too, and match paths and
// refuse backends by their own rules.
enum class Semantics : uint8_t { kIstio, kIngress, kGatewayApi };

// By the annotation internal.istio.io/route-semantics. Source: Istio's UseIngressSemantics,
// UseGatewaySemantics.
Semantics SemanticsOf(const config::ConfigObject& virtual_service);

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_SEMANTICS_H_
