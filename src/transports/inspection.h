#ifndef FAIRLEAD_TRANSPORTS_INSPECTION_H_
#define FAIRLEAD_TRANSPORTS_INSPECTION_H_

#include <vector>

#include "base/executor.h"
#include "debug/pages.h"
#include "rpc/grpc_server.h"
#include "rpc/http_server.h"

// Introspection over HTTP and gRPC. All arguments must outlive the servers.
namespace fairlead::transports {

// /debug/NAME for each page (debug/pages.h), and /debug, a list of them; for clients on this machine alone.
void AddDebugPaths(const debug::Sources* sources, rpc::HttpServer* server);

// The methods of envoy.service.status.v3.ClientStatusDiscoveryService; they work on the executor's threads.
std::vector<rpc::GrpcMethod> ClientStatusMethods(const debug::Sources* sources, Executor* executor);

}  // namespace fairlead::transports

#endif  // FAIRLEAD_TRANSPORTS_INSPECTION_H_
