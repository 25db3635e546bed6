#include "source/etcd/etcd_peer_fake.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "base/strings.h"
#include "source/etcd/etcd_follower.h"
#include "source/etcd/etcd_objects.h"
#include "source/file/source_fake.h"
#include "source/platform/contract_fixture.h"

namespace fairlead::source {
namespace {

using namespace std::chrono_literals;

constexpr char kProgram[] = "/usr/bin/etcd";

int Bound(int* port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(bind(socket, reinterpret_cast<sockaddr*>(&address), size), 0);
  getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  *port = ntohs(address.sin_port);
  return socket;
}

int FreePort() {
  int port = 0;
  close(Bound(&port));
  return port;
}

EtcdOptions Direct(int port, const std::string& prefix) {
  EtcdOptions options =
      *ParseEtcdOptions(StrCat("etcd://127.0.0.1:", port, prefix.substr(0, prefix.size() - 1)));
  options.first_backoff = 10ms;
  options.most_backoff = 50ms;
  return options;
}

// The process ends with this one.
class EtcdProcess {
 public:
  EtcdProcess() : port(FreePort()) {
    const std::string client = StrCat("http://127.0.0.1:", port),
                      peer = StrCat("http://127.0.0.1:", FreePort());
    const std::string data = StrCat("--data-dir=", folder_ / "data");
    process_ = fork();
    if (process_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      const int nothing = open("/dev/null", O_RDWR);
      dup2(nothing, 1);
      dup2(nothing, 2);
      execl(kProgram, kProgram, data.c_str(), "--name=one", StrCat("--listen-client-urls=", client).c_str(),
            StrCat("--advertise-client-urls=", client).c_str(), StrCat("--listen-peer-urls=", peer).c_str(),
            StrCat("--initial-advertise-peer-urls=", peer).c_str(),
            StrCat("--initial-cluster=one=", peer).c_str(), "--unsafe-no-fsync", nullptr);
      _exit(127);
    }
    EtcdClient client_of(Direct(port, "/up/"));
    for (int i = 0; i < 500 && !client_of.Read({"x"}).ok(); ++i) std::this_thread::sleep_for(20ms);
  }
  ~EtcdProcess() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  const int port;

 private:
  TestFolder folder_;
  pid_t process_ = 0;
};

}  // namespace

TcpGateFake::TcpGateFake(int to) : to_(to) {
  listener_ = Bound(&port_);
  listen(listener_, 16);
  accepting_ = std::thread([this] { Accept(); });
}

TcpGateFake::~TcpGateFake() {
  stopping_ = true;
  shutdown(listener_, SHUT_RDWR);
  accepting_.join();
  Open(false);
  for (std::thread& thread : threads_) thread.join();
  for (const int socket : sockets_) close(socket);
  close(listener_);
}

void TcpGateFake::Open(bool open) {
  open_ = open;
  if (open) return;
  std::lock_guard lock(mutex_);
  for (const int socket : sockets_) shutdown(socket, SHUT_RDWR);
}

void TcpGateFake::Accept() {
  for (;;) {
    const int from = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (from < 0 || stopping_) {
      if (from >= 0) close(from);
      return;
    }
    const int to = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(to_));
    if (!open_ || connect(to, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      close(from);
      close(to);
      continue;
    }
    std::lock_guard lock(mutex_);
    sockets_.insert({from, to});
    // Closed since it was looked at.
    if (!open_) {
      shutdown(from, SHUT_RDWR);
      shutdown(to, SHUT_RDWR);
    }
    threads_.emplace_back([this, from, to] { Carry(from, to); });
    threads_.emplace_back([this, from, to] { Carry(to, from); });
  }
}

void TcpGateFake::Carry(int from, int to) {
  char buffer[16 << 10];
  for (;;) {
    const ssize_t size = recv(from, buffer, sizeof buffer, 0);
    if (size <= 0 || send(to, buffer, static_cast<size_t>(size), MSG_NOSIGNAL) != size) break;
  }
  shutdown(from, SHUT_RDWR);
  shutdown(to, SHUT_RDWR);
}

bool EtcdPeerFake::IsThere() { return access(kProgram, X_OK) == 0; }

int EtcdPeerFake::Port() {
  static EtcdProcess process;
  return process.port;
}

EtcdPeerFake::EtcdPeerFake()
    : prefix_([] {
        static int count = 0;
        return StrCat("/test-", ++count, "/");
      }()),
      gate_(Port()),
      client_(Direct(Port(), prefix_)) {}

EtcdOptions EtcdPeerFake::Options() const { return Direct(gate_.port(), prefix_); }

std::unique_ptr<PlatformFollower> EtcdPeerFake::MakeFollower() {
  return std::make_unique<EtcdFollower>(Options());
}

void EtcdPeerFake::Set(const std::string& key, const std::string& value, int64_t lease) {
  EtcdWrite write{prefix_ + key, value};
  write.lease = lease;
  const auto outcome = client_.Write({write});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  ASSERT_TRUE(outcome->succeeded);
}

// "ServiceEntry.GROUP/…" comes before "ServiceEntry/…", and is the same object.
void EtcdPeerFake::Put(const std::string& name, const std::string& version) {
  Set(StrCat("ServiceEntry.networking.istio.io/ns/", name),
      StrCat("apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: {name: ", name,
             ", namespace: ns, labels: {v: \"", version, "\"}}\nspec:\n  hosts: [", name,
             ".example.com]\n  ports: [{number: 80, name: http, protocol: HTTP}]\n  resolution: DNS\n"));
}

void EtcdPeerFake::PutTwin(const std::string& name, const std::string& version) {
  Set(StrCat("ServiceEntry/ns/", name),
      StrCat("apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: {name: ", name,
             ", namespace: ns, labels: {v: \"", version, "\"}}\nspec:\n  hosts: [", name,
             ".example.com]\n  ports: [{number: 80, name: http, protocol: HTTP}]\n  resolution: DNS\n"));
}

void EtcdPeerFake::Delete(const std::string& name) {
  ASSERT_TRUE(client_.Write({{StrCat(prefix_, "ServiceEntry.networking.istio.io/ns/", name)}}).ok());
}

void EtcdPeerFake::Forget() {
  const auto now = client_.Read({prefix_});
  ASSERT_TRUE(now.ok());
  ASSERT_TRUE(client_.Call("/etcdserverpb.KV/Compact", EncodeCompaction(now->revision)).ok());
}

std::string EtcdPeerFake::VersionOf(const config::ConfigObject& object) const {
  return std::string(LabelOr(object.meta().labels, "v"));
}

INSTANTIATE_TEST_SUITE_P(Etcd, PlatformContractTest,
                         ::testing::Values(PeerCase{"etcd",
                                                    []() -> std::unique_ptr<PlatformPeerFake> {
                                                      if (!EtcdPeerFake::IsThere()) return nullptr;
                                                      return std::make_unique<EtcdPeerFake>();
                                                    }}),
                         NameOfPeer);

}  // namespace fairlead::source
