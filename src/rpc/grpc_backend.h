#ifndef FAIRLEAD_RPC_GRPC_BACKEND_H_
#define FAIRLEAD_RPC_GRPC_BACKEND_H_

#include <chrono>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "rpc/grpc_server.h"
#include "transport/server.h"

namespace fairlead::rpc {

// What speaks HTTP/2 for a GrpcServer; see its methods of the same names.
class ServerBackend {
 public:
  virtual ~ServerBackend() = default;
  virtual absl::Status Start() = 0;
  virtual void Stop(std::chrono::milliseconds grace) = 0;
  virtual const std::vector<int>& ports() const = 0;
  virtual std::vector<transport::ConnectionInfo> Connections() const = 0;
};

// gRPC C++: the callback generic API. The addresses have been checked.
std::unique_ptr<ServerBackend> MakeGrpcBackend(GrpcServerOptions options);
// src/transport. The addresses have been checked.
std::unique_ptr<ServerBackend> MakeNghttp2Backend(GrpcServerOptions options);

}  // namespace fairlead::rpc

#endif  // FAIRLEAD_RPC_GRPC_BACKEND_H_
