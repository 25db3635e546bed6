#ifndef FAIRLEAD_SERVING_XDS_METHODS_H_
#define FAIRLEAD_SERVING_XDS_METHODS_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "push/stream/pusher.h"
#include "server/grpc_server.h"

namespace fairlead::serving {

// The methods of the discovery services (aggregated and of one type, see xds/services.h) as gRPC streams of
// the pusher, which must outlive the server. `prove`, where it is given, says which identities a stream has
// proven, or why it is refused: once, at once or later from another thread. It is called within StreamOpener.
using Proven = std::function<void(absl::StatusOr<std::vector<std::string>>)>;
using Prove = std::function<void(const server::ServerStream& stream, Proven proven)>;
std::vector<server::GrpcMethod> XdsMethods(push::Pusher* pusher, const Prove& prove = nullptr);

// Unimplemented: what is said of a method that is not served. Clients of xDS v2 are told what to do.
absl::Status RefuseMethod(std::string_view path);

}  // namespace fairlead::serving

#endif  // FAIRLEAD_SERVING_XDS_METHODS_H_
