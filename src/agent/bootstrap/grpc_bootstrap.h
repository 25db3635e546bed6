#ifndef FAIRLEAD_AGENT_BOOTSTRAP_GRPC_BOOTSTRAP_H_
#define FAIRLEAD_AGENT_BOOTSTRAP_GRPC_BOOTSTRAP_H_

#include <string>

#include "absl/status/status.h"
#include "agent/options.h"
#include "nlohmann/json.hpp"

namespace fairlead::agent {

// What a gRPC library without a proxy is started with: the control plane by the agent's socket
// (Options::relay_socket), or in plaintext where there is none, and certificates from files.
// Source: gRPC proposals A27 (xDS), A29 (TLS), A36 (servers); Istio's grpcxds.GenerateBootstrap.
nlohmann::json BuildGrpcBootstrap(const Options& options);

// Whether the application is to have that file: GRPC_XDS_BOOTSTRAP is set, or there is no Envoy, or the
// default's folder is there.
bool WantsGrpcBootstrap(const Options& options);

// Writes the file for every user of the machine, as applications have users of their own.
absl::Status WriteGrpcBootstrap(const Options& options);

// Whether an application can begin: the file and its certificates are there.
absl::Status CheckGrpcFiles(const Options& options);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_BOOTSTRAP_GRPC_BOOTSTRAP_H_
