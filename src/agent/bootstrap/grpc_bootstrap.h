#ifndef FAIRLEAD_AGENT_BOOTSTRAP_GRPC_BOOTSTRAP_H_
#define FAIRLEAD_AGENT_BOOTSTRAP_GRPC_BOOTSTRAP_H_

#include "agent/options.h"
#include "nlohmann/json.hpp"

namespace fairlead::agent {

// The bootstrap of a gRPC library that speaks xDS itself (GRPC_XDS_BOOTSTRAP), of a client and a server
// alike. Source: gRPC's proposals A27, A29 and A36; Istio's grpcxds.
nlohmann::json BuildGrpcBootstrap(const Options& options);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_BOOTSTRAP_GRPC_BOOTSTRAP_H_
