#ifndef FAIRLEAD_SERVING_INSPECTION_H_
#define FAIRLEAD_SERVING_INSPECTION_H_

#include <vector>

#include "base/executor.h"
#include "debug/pages.h"
#include "server/grpc_server.h"
#include "server/http_server.h"

// Introspection over HTTP and gRPC. All arguments must outlive the servers.
namespace fairlead::serving {

// /debug/NAME for each page (debug/pages.h), and /debug, a list of them; for clients on this machine alone.
void AddDebugPaths(const debug::Sources* sources, server::HttpServer* server);

// The methods of envoy.service.status.v3.ClientStatusDiscoveryService; they work on the executor's threads.
std::vector<server::GrpcMethod> ClientStatusMethods(const debug::Sources* sources, Executor* executor);

}  // namespace fairlead::serving

#endif  // FAIRLEAD_SERVING_INSPECTION_H_
