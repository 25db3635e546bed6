#ifndef FAIRLEAD_TRANSPORTS_XDS_METHODS_H_
#define FAIRLEAD_TRANSPORTS_XDS_METHODS_H_

#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "push/pusher.h"
#include "rpc/grpc_server.h"

namespace fairlead::transports {

// The methods of the aggregated discovery service and of those of one type (see xds/services.h) as gRPC
// streams of the pusher, which must outlive the server.
std::vector<rpc::GrpcMethod> XdsMethods(push::Pusher* pusher);

// Unimplemented: what is said of a method that is not served. Clients of xDS v2 are told what to do.
absl::Status RefuseMethod(std::string_view path);

}  // namespace fairlead::transports

#endif  // FAIRLEAD_TRANSPORTS_XDS_METHODS_H_
