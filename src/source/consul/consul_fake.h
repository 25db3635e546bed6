#ifndef FAIRLEAD_SOURCE_CONSUL_CONSUL_FAKE_H_
#define FAIRLEAD_SOURCE_CONSUL_CONSUL_FAKE_H_

#include <httplib.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "source/consul/consul_follower.h"
#include "source/platform/http_peer_fake.h"

namespace fairlead::source {

// For tests: an agent of Consul's as the source asks it, over HTTP/1.1: blocking queries with one index for
// all. Written from the documented API. Source: developer.hashicorp.com/consul/api-docs
class ConsulFake : public HttpPeerFake {
 public:
  ConsulFake();
  ~ConsulFake() override;

  std::unique_ptr<PlatformFollower> MakeFollower() override;
  void Put(const std::string& name, const std::string& version) override;
  void Delete(const std::string& name) override;
  void PutTwin(const std::string& name, const std::string& version) override;
  void SetAway(bool away) override;
  void Forget() override;
  std::string VersionOf(const config::ConfigObject& object) const override;

  // "consul://127.0.0.1:8500", and options.
  std::string Url(const std::string& options = "") const;
  ConsulOptions Options(const std::string& options = "") const;
  // Of a URL, with short waits.
  static ConsulOptions OptionsOf(const std::string& url);
  // The answer for a service of a datacenter: a JSON list of instances. "": the agent's own datacenter.
  void Set(const std::string& service, const std::string& instances, const std::string& datacenter = "");
  void SetConfig(const std::string& kind, const std::string& entries);
  // Answers of paths with this part have this status; 0: as usual.
  void Refuse(const std::string& part, int status);
  void SetLeader(bool known);
  // Answers nothing, not even that.
  void SetHung(bool hung);
  // Stale questions are answered with nothing and an early index, as a server does that has not caught up.
  void SetBehind(bool behind);
  // An instance on node n-ID at an address of its own.
  static std::string Instance(const std::string& service, const std::string& id,
                              const std::string& tags = "[]", const std::string& checks = "[]");

  size_t most_at_once();  // requests for instances

 private:
  void Answer(const httplib::Request& request, httplib::Response& response, Lock& lock);
  std::string Body(const httplib::Request& request) const;
  void Changed();

  uint64_t index_ = 10;
  bool leader_ = true, hung_ = false, behind_ = false;
  std::map<std::string, std::map<std::string, std::string>> services_;  // by datacenter and name
  std::map<std::string, std::string> config_, refused_;
  size_t at_once_ = 0, most_at_once_ = 0;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_CONSUL_CONSUL_FAKE_H_
