#ifndef FAIRLEAD_AGENT_SDS_SERVER_H_
#define FAIRLEAD_AGENT_SDS_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "agent/secret_store.h"
#include "server/grpc_server.h"

namespace fairlead::agent {

// Serves the store's secrets to the proxy of this agent, over a unix socket for its user alone:
// envoy.service.secret.v3.SecretDiscoveryService, state of the world and delta. A name that there is nothing
// of yet is answered when there is; every change is sent.
class SdsServer {
 public:
  // `store` must outlive it.
  SdsServer(std::string socket, SecretStore* store);
  ~SdsServer();  // as Stop()
  // Makes the socket's folder; Unavailable where it cannot listen.
  absl::Status Start();
  void Stop();

 private:
  class Streams;
  const std::string socket_;
  const std::shared_ptr<Streams> streams_;
  std::unique_ptr<server::GrpcServer> server_;
};

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_SDS_SERVER_H_
