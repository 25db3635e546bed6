#ifndef FAIRLEAD_SERVER_REFLECTION_H_
#define FAIRLEAD_SERVER_REFLECTION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/executor.h"
#include "server/grpc_server.h"

// gRPC's server reflection, v1 and v1alpha, of the services that the generic server has and of the embedded
// descriptors: what grpcurl needs. gRPC's own plugin knows generated services only.
// Source: github.com/grpc/grpc/blob/master/doc/server-reflection.md
namespace fairlead::server {

// The methods to add to a server of `methods`; health checks and reflection itself are listed, too.
std::vector<GrpcMethod> ReflectionMethods(const std::vector<GrpcMethod>& methods, Executor* executor);

// Answers one encoded ServerReflectionRequest; InvalidArgument where it cannot be read.
absl::StatusOr<std::string> Reflect(const std::vector<std::string>& services, const std::string& request);

}  // namespace fairlead::server

#endif  // FAIRLEAD_SERVER_REFLECTION_H_
