#ifndef FAIRLEAD_SOURCE_ETCD_ETCD_PEER_FAKE_H_
#define FAIRLEAD_SOURCE_ETCD_ETCD_PEER_FAKE_H_

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "source/etcd/etcd_client.h"
#include "source/platform/platform_peer_fake.h"

namespace fairlead::source {

// For tests: a way to a port of this machine that can be closed: connections end then, and new ones do so at
// once.
class TcpGateFake {
 public:
  explicit TcpGateFake(int to);
  ~TcpGateFake();
  int port() const { return port_; }
  void Open(bool open);

 private:
  void Accept();
  void Carry(int from, int to);

  const int to_;
  int listener_ = -1, port_ = 0;
  std::atomic<bool> open_{true}, stopping_{false};
  std::mutex mutex_;
  std::set<int> sockets_;
  std::vector<std::thread> threads_;
  std::thread accepting_;
};

// For tests: Debian's etcd, one member, started once for all tests of the process, each with a prefix of its
// own.
class EtcdPeerFake : public PlatformPeerFake {
 public:
  EtcdPeerFake();
  static bool IsThere();  // the program is installed

  std::unique_ptr<PlatformFollower> MakeFollower() override;
  void Put(const std::string& name, const std::string& version) override;
  void Delete(const std::string& name) override;
  void PutTwin(const std::string& name, const std::string& version) override;
  void SetAway(bool away) override { gate_.Open(!away); }
  void Forget() override;
  std::string VersionOf(const config::ConfigObject& object) const override;

  const std::string& prefix() const { return prefix_; }  // with its "/"
  EtcdOptions Options() const;
  EtcdClient& client() { return client_; }
  void Set(const std::string& key, const std::string& value, int64_t lease = 0);

 private:
  static int Port();
  const std::string prefix_;
  TcpGateFake gate_;
  EtcdClient client_;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_ETCD_ETCD_PEER_FAKE_H_
