#ifndef FAIRLEAD_SOURCE_COPILOT_COPILOT_FAKE_H_
#define FAIRLEAD_SOURCE_COPILOT_COPILOT_FAKE_H_

#include <grpcpp/grpcpp.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/certificates_fake.h"
#include "source/copilot/copilot_follower.h"
#include "source/platform/platform_peer_fake.h"

namespace fairlead::source {

// For tests: Copilot's service api.IstioCopilot on gRPC's own implementation. Written from the protos; see
// copilot_messages.h.
class CopilotFake : public PlatformPeerFake {
 public:
  // `own`: its certificate, with which it wants one of `clients` from whoever asks; null: plaintext.
  explicit CopilotFake(const Issued* own = nullptr, const AuthorityFake* clients = nullptr);
  ~CopilotFake() override;

  std::unique_ptr<PlatformFollower> MakeFollower() override;
  void Put(const std::string& name, const std::string& version) override;
  void Delete(const std::string& name) override;
  void PutTwin(const std::string& name, const std::string& version) override;
  void SetAway(bool away) override;
  void Forget() override {}
  std::string VersionOf(const config::ConfigObject& object) const override;

  CopilotOptions Options(const std::string& options = "tls=false") const;
  void SetRoutes(std::vector<CopilotRoute> routes);
  void SetInternalRoutes(std::vector<CopilotRoute> routes);
  // What a method answers in place of routes; OK: routes again.
  void Refuse(const std::string& method, grpc::Status status);
  void Answer(const std::string& method, const std::string& bytes);
  size_t calls();

 private:
  class Service;
  class Reactor;
  grpc::Status Serve(const std::string& method, std::string* answer);

  std::mutex mutex_;
  std::map<std::string, CopilotRoute> put_;
  std::vector<CopilotRoute> routes_, internal_;
  std::map<std::string, grpc::Status> refused_;
  std::map<std::string, std::string> answers_;
  bool away_ = false;
  size_t calls_ = 0;
  int port_ = 0;
  std::unique_ptr<Service> service_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_COPILOT_COPILOT_FAKE_H_
