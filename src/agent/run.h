#ifndef FAIRLEAD_AGENT_RUN_H_
#define FAIRLEAD_AGENT_RUN_H_

#include <string>
#include <vector>

namespace fairlead::agent {

// `fairlead agent …`: "bootstrap" prints Envoy's bootstrap, "grpc-bootstrap" a gRPC library's; otherwise
// writes it, runs Envoy until SIGTERM or SIGINT, and restarts it when it dies. Gives the process's exit
// status: 0 after an orderly stop, 1 where Envoy cannot be kept running, 2 for a wrong call.
int RunAgent(const std::vector<std::string>& arguments);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_RUN_H_
