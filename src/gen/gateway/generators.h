#ifndef FAIRLEAD_GEN_GATEWAY_GENERATORS_H_
#define FAIRLEAD_GEN_GATEWAY_GENERATORS_H_

#include <memory>

#include "gen/generator.h"

namespace fairlead::gen {

// LDS and RDS with routers served: what they get is made here, everything else is handed on to `others`.
std::unique_ptr<Generator> NewGatewayListenerGenerator(std::unique_ptr<Generator> others);
std::unique_ptr<Generator> NewGatewayRouteGenerator(std::unique_ptr<Generator> others);

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_GATEWAY_GENERATORS_H_
