#ifndef FAIRLEAD_RPC_REFLECTION_H_
#define FAIRLEAD_RPC_REFLECTION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/executor.h"
#include "rpc/grpc_server.h"

// gRPC's server reflection, v1 and v1alpha, of the services that the generic server has and of the embedded
// descriptors: what grpcurl needs. gRPC's own plugin knows generated services only.
// Source: github.com/grpc/grpc/blob/master/doc/server-reflection.md
namespace fairlead::rpc {

// The methods to add to a server of `methods`; health checks and reflection itself are listed, too.
std::vector<GrpcMethod> ReflectionMethods(const std::vector<GrpcMethod>& methods, Executor* executor);

// Answers one encoded ServerReflectionRequest; InvalidArgument where it cannot be read.
absl::StatusOr<std::string> Reflect(const std::vector<std::string>& services, const std::string& request);

}  // namespace fairlead::rpc

#endif  // FAIRLEAD_RPC_REFLECTION_H_
