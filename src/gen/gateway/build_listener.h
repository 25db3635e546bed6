#ifndef FAIRLEAD_GEN_GATEWAY_BUILD_LISTENER_H_
#define FAIRLEAD_GEN_GATEWAY_BUILD_LISTENER_H_

#include "gen/gateway/listener_inputs.h"

namespace envoy::config::listener::v3 {
class Listener;
}

namespace fairlead::gen::gateway {

// Pure. Source: Istio's buildGatewayListener.
void BuildGatewayListener(const GatewayListenerInputs& inputs, envoy::config::listener::v3::Listener* out);

}  // namespace fairlead::gen::gateway

#endif  // FAIRLEAD_GEN_GATEWAY_BUILD_LISTENER_H_
