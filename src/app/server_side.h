#ifndef FAIRLEAD_APP_SERVER_SIDE_H_
#define FAIRLEAD_APP_SERVER_SIDE_H_

#include <string>
#include <vector>

#include "app/mesh_folder.h"
#include "simulate/outcome.h"
#include "simulate/request.h"

namespace fairlead::app {

// What becomes of a request at the sidecar of an endpoint.
struct ServerSide {
  std::string endpoint;  // "10.1.2.3:8080"
  std::string proxy;     // "reviews-v1.default"
  simulate::Outcome outcome;
};

// Follows a request to the sidecars of the endpoints that it may reach, with the path, host and TLS that the
// client's sidecar gives it: a server that demands mutual TLS refuses a client that was told to speak
// plaintext. Endpoints that are no workload with a sidecar in the mesh are left out.
std::vector<ServerSide> FollowToServers(const LoadedMesh& mesh, const simulate::Request& request,
                                        const simulate::Outcome& outcome);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_SERVER_SIDE_H_
