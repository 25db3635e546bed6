#ifndef FAIRLEAD_SIMULATE_COMMAND_SERVER_SIDE_H_
#define FAIRLEAD_SIMULATE_COMMAND_SERVER_SIDE_H_

#include <string>
#include <vector>

#include "model/proxy.h"
#include "simulate/loaded_mesh.h"
#include "simulate/outcome.h"
#include "simulate/request.h"

namespace fairlead::simulate {

// The outcome of a request at the sidecar of an endpoint.
struct ServerSide {
  std::string endpoint;      // "10.1.2.3:8080"
  std::string proxy;         // "reviews-v1.default"
  SimulatedRequest request;  // as it arrives there
  SimulationOutcome outcome;
};

// Follows a request to the sidecars of its possible endpoints, with the path, host and TLS from the client's
// proxy. A server with strict mutual TLS refuses a client that speaks plaintext. A router shows its own
// identity, whatever its caller showed. Endpoints that are no workload with a sidecar in the mesh are left
// out.
std::vector<ServerSide> FollowToServers(const LoadedMesh& mesh, const model::Proxy& client,
                                        const SimulatedRequest& request, const SimulationOutcome& outcome);

}  // namespace fairlead::simulate

#endif  // FAIRLEAD_SIMULATE_COMMAND_SERVER_SIDE_H_
