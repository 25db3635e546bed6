#ifndef FAIRLEAD_SOURCE_MCP_MCP_PEER_FAKE_H_
#define FAIRLEAD_SOURCE_MCP_MCP_PEER_FAKE_H_

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "source/etcd/etcd_peer_fake.h"
#include "source/mcp/mcp_options.h"
#include "source/platform/platform_peer_fake.h"

namespace grpc {
class Server;
}

namespace fairlead::source {

// For tests: a server of MCP on gRPC's own implementation, state of the world. It has ServiceEntries, and
// answers for every type that it is asked for. The real peers are another Fairlead (tests/sources) and
// istiod.
class McpPeerFake : public PlatformPeerFake {
 public:
  McpPeerFake();
  ~McpPeerFake() override;

  std::unique_ptr<PlatformFollower> MakeFollower() override;
  void Put(const std::string& name, const std::string& version) override;
  void Delete(const std::string& name) override;
  void PutTwin(const std::string& /*name*/, const std::string& /*version*/) override {}
  bool HasTwins() const override { return false; }
  void SetAway(bool away) override { gate_->Open(!away); }
  void Forget() override;
  std::string VersionOf(const config::ConfigObject& object) const override;

 private:
  class Service;
  class Stream;

  std::unique_ptr<Service> service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<TcpGateFake> gate_;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_MCP_MCP_PEER_FAKE_H_
