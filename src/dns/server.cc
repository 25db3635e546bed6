#include "dns/server.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/log_rate.h"
#include "base/metrics.h"
#include "base/strings.h"
#include "base/thread.h"
#include "dns/answer.h"
#include "dns/forwarder.h"
#include "dns/poller.h"
#include "dns/tcp_clients.h"
#include "dns/udp_listener.h"

namespace fairlead::dns {
namespace {

LogScope dns_log("dns");

metrics::Counter& Requests() {
  static metrics::Counter& counter =
      metrics::GetCounter("istio_agent_dns_requests_total", "Total number of DNS requests.");
  return counter;
}

uint64_t Seed() {
  uint64_t seed = 0;
  static_cast<void>(!getrandom(&seed, sizeof seed, 0));
  return seed;
}

uint16_t PortOf(const UdpPeer& peer) { return SocketAddress::Of(peer.name).port(); }

}  // namespace

// The thread and its sockets. Members without a remark belong to the thread once it runs.
class DnsServer::Worker final : public Watcher {
 public:
  explicit Worker(DnsServerOptions options)
      : options_(std::move(options)),
        tcp_({options_.most_connections, options_.idle}, &poller_,
             [this](std::string_view message, uint64_t connection, uint16_t port, std::string* answer) {
               return OnTcp(message, connection, port, answer);
             }),
        forwarder_(
            {options_.resolvers, options_.parallel, options_.timeout, options_.most_sockets}, &poller_,
            [this](const ReplyPath& origin, std::string answer) { Deliver(origin, std::move(answer)); }),
        dice_(Seed()) {}
  ~Worker() override { Stop(); }

  absl::Status Start();
  void Stop();
  void SetTable(std::shared_ptr<const NameTable> table) {
    {
      std::lock_guard lock(table_mutex_);
      table_.swap(table);
    }
    Wake();
  }
  std::shared_ptr<const NameTable> table() const {
    std::lock_guard lock(table_mutex_);
    return table_;
  }
  std::vector<SocketAddress> listens_at() const { return listens_at_; }
  std::chrono::nanoseconds cpu_time();
  // A wish to stop, which Run looks for, or a new table: the old one is given back at once.
  void OnReady(uint32_t /*events*/) override {
    uint64_t count = 0;
    static_cast<void>(!read(wake_.get(), &count, sizeof count));
    current_is_fresh_ = false;
    Table();
  }

 private:
  absl::Status Listen(const SocketAddress& address);
  void Run();
  bool OnUdp(size_t listener, std::string_view message, const UdpPeer& peer, std::string* answer);
  bool OnTcp(std::string_view message, uint64_t connection, uint16_t port, std::string* answer);
  // `origin` gives the ReplyPath of a message that is forwarded.
  template <typename MakeOrigin>
  bool OnMessage(std::string_view message, DnsTransport transport, uint16_t port, std::string* answer,
                 const MakeOrigin& origin);
  void Wake() const;
  void Deliver(const ReplyPath& origin, std::string answer);
  // The table that counts until the next batch.
  const NameTable* Table();

  const DnsServerOptions options_;
  const http2::File wake_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::atomic<bool> stopping_{false};  // of all threads
  mutable std::mutex table_mutex_;
  std::shared_ptr<const NameTable> table_;    // guarded by table_mutex_
  std::vector<SocketAddress> listens_at_;     // constant once the thread runs
  std::shared_ptr<const NameTable> current_;  // of this round
  bool current_is_fresh_ = false;
  Poller poller_;
  std::vector<std::unique_ptr<UdpListener>> udp_;
  TcpClients tcp_;
  Forwarder forwarder_;
  Dice dice_;
  LogRate rate_;
  std::thread thread_;
};

absl::Status DnsServer::Worker::Listen(const SocketAddress& wanted) {
  const size_t number = udp_.size();
  auto udp = UdpListener::Open(
      wanted, &poller_,
      [this, number](std::string_view message, const UdpPeer& peer, std::string* answer) {
        return OnUdp(number, message, peer, answer);
      },
      [](size_t messages) { Requests().Add(static_cast<double>(messages)); });
  if (!udp.ok()) return udp.status();
  udp_.push_back(*std::move(udp));
  // Both have one port, also where the system chooses it.
  listens_at_.push_back(udp_.back()->address());
  return tcp_.Listen(listens_at_.back());
}

absl::Status DnsServer::Worker::Start() {
  if (!poller_.Add(wake_.get(), EPOLLIN, this))
    return absl::ResourceExhaustedError("no file to wake the DNS server's thread by");
  for (const SocketAddress& address : options_.listen) {
    if (absl::Status status = Listen(address); !status.ok()) return status;
  }
  auto thread = StartThread([this] { Run(); });
  if (!thread.ok()) return thread.status();
  thread_ = *std::move(thread);
  return absl::OkStatus();
}

void DnsServer::Worker::Wake() const {
  const uint64_t one = 1;
  static_cast<void>(!write(wake_.get(), &one, sizeof one));
}

void DnsServer::Worker::Stop() {
  stopping_ = true;
  Wake();
  if (thread_.joinable()) thread_.join();
}

std::chrono::nanoseconds DnsServer::Worker::cpu_time() {
  clockid_t clock = 0;
  timespec time{};
  if (!thread_.joinable() || pthread_getcpuclockid(thread_.native_handle(), &clock) != 0) return {};
  clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

void DnsServer::Worker::Run() {
  while (!stopping_) {
    const Clock::time_point next = std::min(forwarder_.next(), tcp_.next());
    std::chrono::milliseconds wait{-1};
    // Rounded up: a round too early would only turn again.
    if (next != Clock::time_point::max())
      wait = std::max(std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()),
                      std::chrono::milliseconds(0));
    current_is_fresh_ = false;
    poller_.Wait(wait);
    const Clock::time_point now = Clock::now();
    forwarder_.Expire(now);
    tcp_.Expire(now);
  }
}

const NameTable* DnsServer::Worker::Table() {
  if (!std::exchange(current_is_fresh_, true)) current_ = table();
  return current_.get();
}

template <typename MakeOrigin>
bool DnsServer::Worker::OnMessage(std::string_view message, DnsTransport transport, uint16_t port,
                                  std::string* answer, const MakeOrigin& origin) {
  Query query;
  switch (
      AnswerFromTable(message, Table(), options_.forwards_before_table, transport, &dice_, &query, answer)) {
    case TableAnswer::kIgnored:
      answer->clear();
      return false;
    case TableAnswer::kAnswered:
      return true;
    case TableAnswer::kForward:
      break;
  }
  if (forwarder_.IsOwn(query.id, port)) {
    if (const auto left_out = rate_.Admit("loop"))
      dns_log.Error(
          "a query to a resolver came back to this server: redirection has to leave the agent's own user "
          "alone, and resolv.conf must name another server{}",
          *left_out);
    *answer = ErrorAnswer(message, kRcodeServerFailure);
    return true;
  }
  forwarder_.Ask(message, LimitOf(transport, query), origin());
  return false;
}

bool DnsServer::Worker::OnUdp(size_t listener, std::string_view message, const UdpPeer& peer,
                              std::string* answer) {
  return OnMessage(message, DnsTransport::kUdp, PortOf(peer), answer, [&] {
    ReplyPath origin;
    origin.peer = peer;
    origin.listener = listener;
    return origin;
  });
}

// Every message of a connection counts as answered or as pending: one to be ignored has an empty answer.
bool DnsServer::Worker::OnTcp(std::string_view message, uint64_t connection, uint16_t port,
                              std::string* answer) {
  Requests().Add();
  Query ignored;
  if (ReadQuery(message, &ignored) == QueryKind::kIgnored) return true;
  return OnMessage(message, DnsTransport::kTcp, port, answer, [&] {
    ReplyPath origin;
    origin.transport = DnsTransport::kTcp;
    origin.connection = connection;
    return origin;
  });
}

void DnsServer::Worker::Deliver(const ReplyPath& origin, std::string answer) {
  if (origin.transport == DnsTransport::kTcp) {
    tcp_.Send(origin.connection, answer);
  } else {
    udp_[origin.listener]->Send(origin.peer, std::move(answer));
  }
}

DnsServer::DnsServer(DnsServerOptions options) : worker_(std::make_unique<Worker>(std::move(options))) {}
DnsServer::~DnsServer() = default;
absl::Status DnsServer::Start() { return worker_->Start(); }
void DnsServer::Stop() { worker_->Stop(); }
void DnsServer::SetTable(std::shared_ptr<const NameTable> table) { worker_->SetTable(std::move(table)); }
std::shared_ptr<const NameTable> DnsServer::table() const { return worker_->table(); }
std::vector<SocketAddress> DnsServer::listens_at() const { return worker_->listens_at(); }
std::chrono::nanoseconds DnsServer::cpu_time() const { return worker_->cpu_time(); }

}  // namespace fairlead::dns
