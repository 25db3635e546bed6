#ifndef FAIRLEAD_APP_ADS_SERVICE_H_
#define FAIRLEAD_APP_ADS_SERVICE_H_

#include <vector>

#include "push/pusher.h"
#include "rpc/grpc_server.h"

namespace fairlead::app {

// The methods of envoy.service.discovery.v3.AggregatedDiscoveryService as gRPC streams of the pusher, which
// must outlive the server.
std::vector<rpc::GrpcMethod> AdsMethods(push::Pusher* pusher);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_ADS_SERVICE_H_
