#ifndef FAIRLEAD_SOURCE_SRV_SRV_FAKE_H_
#define FAIRLEAD_SOURCE_SRV_SRV_FAKE_H_

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "dns/resolver_fake.h"
#include "source/platform/platform_peer_fake.h"
#include "source/srv/srv_follower.h"

namespace fairlead::source {

// For tests: a resolver on loopback with records as they are given.
class SrvFake : public PlatformPeerFake {
 public:
  struct Record {
    uint16_t priority, weight, port;
    std::string target;
  };
  SrvFake();

  std::unique_ptr<PlatformFollower> MakeFollower() override;
  void Put(const std::string& name, const std::string& version) override;
  void Delete(const std::string& name) override;
  void PutTwin(const std::string& name, const std::string& version) override;
  void SetAway(bool away) override { away_ = away; }
  void Forget() override {}
  std::string VersionOf(const config::ConfigObject& object) const override;

  // Of "dns+srv://…"; the fake is its resolver.
  SrvOptions Options(const std::string& url) const;
  void SetServices(const std::string& name, std::vector<Record> records);
  void SetAddresses(const std::string& name, std::vector<std::string> addresses);
  void Remove(const std::string& name);
  void SetTtl(uint32_t seconds) { ttl_ = seconds; }
  void SetError(int rcode) { error_ = rcode; }
  void RefuseIpv6() { refuses_ipv6_ = true; }
  void SetCut(bool cut) { cut_ = cut; }          // answers over UDP are cut
  void SetAlong(bool along) { along_ = along; }  // addresses come with the records
  int asked() const { return resolver_.asked; }

 private:
  std::string Reply(const std::string& query, bool tcp);

  std::mutex mutex_;
  std::map<std::string, std::vector<Record>> services_;
  std::map<std::string, std::vector<std::string>> addresses_;
  std::atomic<bool> away_{false}, cut_{false}, along_{false}, refuses_ipv6_{false};
  std::atomic<int> error_{0};
  std::atomic<uint32_t> ttl_{0};
  dns::FakeResolver resolver_;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_SRV_SRV_FAKE_H_
