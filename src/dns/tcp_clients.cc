#include "dns/tcp_clients.h"

#include <netinet/tcp.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/errno_text.h"
#include "base/log.h"
#include "base/strings.h"
#include "dns/message.h"

namespace fairlead::dns {
namespace {

LogScope dns_log("dns");

constexpr size_t kPrefix = 2;              // of a message: its length
constexpr size_t kRead = 16 << 10;         // bytes at a time
constexpr size_t kMostUnread = 128 << 10;  // of answers; beyond it queries wait
constexpr int kMostPending = 64;           // queries of a connection that wait for resolvers
constexpr int kBacklog = 128;
constexpr std::chrono::milliseconds kPause{200};

}  // namespace

class TcpClients::Listener final : public Watcher {
 public:
  Listener(TcpClients* owner, http2::File socket) : owner_(owner), socket_(std::move(socket)) {}
  int get() const { return socket_.get(); }

  void OnReady(uint32_t /*events*/) override {
    for (int i = 0; i < kBacklog; ++i) {
      http2::File client(accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (client.get() >= 0) {
        owner_->Accept(std::move(client));
        continue;
      }
      if (errno == ECONNABORTED || errno == EINTR) continue;
      if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) owner_->Pause(true);
      return;
    }
  }

 private:
  TcpClients* const owner_;
  const http2::File socket_;
};

class TcpClients::Client final : public Watcher {
 public:
  Client(TcpClients* owner, http2::File socket, uint64_t number, uint16_t port)
      : owner_(owner), socket_(std::move(socket)), number_(number), port_(port) {}

  bool Begin() { return owner_->poller_->Add(socket_.get(), EPOLLIN, this); }

  void OnReady(uint32_t events) override {
    if ((events & EPOLLOUT) && !Write()) return owner_->Bury(this);
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) && !Read()) return owner_->Bury(this);
    Go();
  }

  void Queue(std::string_view answer) {
    out_.push_back(static_cast<char>(answer.size() >> 8));
    out_.push_back(static_cast<char>(answer.size() & 0xff));
    out_.append(answer);
  }
  // An answer that was waited for.
  void Answer(std::string_view answer) {
    --pending_;
    Queue(answer);
    if (!goes_) Go();  // a resolver that cannot be asked answers at once
  }

  uint64_t number() const { return number_; }
  bool waits() const { return pending_ > 0; }
  Clock::time_point touched = Clock::now();
  std::list<std::unique_ptr<Client>>::iterator place;

 private:
  bool full() const { return out_.size() - sent_ > kMostUnread || pending_ >= kMostPending; }

  // Answers what has come, as far as there is room. The connection ends here if it has to.
  void Go() {
    goes_ = true;
    while (TakeMessage()) {
    }
    goes_ = false;
    if (!Write() || (ended_ && in_.size() == taken_ && pending_ == 0 && out_.empty()))
      return owner_->Bury(this);
    // A connection that the client has closed would be ready for ever.
    const bool reads = !full() && !ended_;
    const uint32_t events = (reads ? uint32_t{EPOLLIN} : 0) | (out_.empty() ? 0 : uint32_t{EPOLLOUT});
    if (std::exchange(events_, events) != events) owner_->poller_->Change(socket_.get(), events, this);
  }

  // False: the connection is broken.
  bool Read() {
    if (full() || ended_) return true;
    in_.erase(0, std::exchange(taken_, 0));
    const size_t had = in_.size();
    in_.resize(had + kRead);
    const ssize_t size = recv(socket_.get(), in_.data() + had, kRead, 0);
    in_.resize(had + static_cast<size_t>(std::max<ssize_t>(size, 0)));
    if (size > 0) owner_->Touch(this);
    if (size == 0) {
      ended_ = true;
      DropRest();
    }
    return size >= 0 || errno == EAGAIN || errno == EINTR;
  }

  // Whole messages are still answered.
  void DropRest() {
    size_t end = taken_;
    while (in_.size() - end >= kPrefix && in_.size() - end >= kPrefix + SizeAt(end))
      end += kPrefix + SizeAt(end);
    in_.resize(end);
  }

  size_t SizeAt(size_t at) const {
    return static_cast<size_t>(static_cast<uint8_t>(in_[at])) << 8 | static_cast<uint8_t>(in_[at + 1]);
  }

  bool TakeMessage() {
    if (full() || in_.size() - taken_ < kPrefix) return false;
    const size_t size = SizeAt(taken_);
    if (in_.size() - taken_ < kPrefix + size) return false;
    const std::string_view message = std::string_view(in_).substr(taken_ + kPrefix, size);
    taken_ += kPrefix + size;
    ++pending_;
    std::string answer;
    if (owner_->handle_(message, number_, port_, &answer)) {
      --pending_;
      if (!answer.empty()) Queue(answer);
    }
    return true;
  }

  // False: the connection is broken.
  bool Write() {
    while (sent_ < out_.size()) {
      const ssize_t size = send(socket_.get(), out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) return errno == EAGAIN;
      sent_ += static_cast<size_t>(size);
    }
    out_.clear();
    sent_ = 0;
    return true;
  }

  TcpClients* const owner_;
  const http2::File socket_;
  const uint64_t number_;
  const uint16_t port_;  // the client's
  std::string in_, out_;
  size_t taken_ = 0, sent_ = 0;  // of in_, of out_
  int pending_ = 0;
  bool ended_ = false;  // the client sends no more
  bool goes_ = false;
  uint32_t events_ = EPOLLIN;
};

TcpClients::TcpClients(Options options, Poller* poller, Handle handle)
    : options_(options), poller_(poller), handle_(std::move(handle)) {}

TcpClients::~TcpClients() = default;

absl::Status TcpClients::Listen(const SocketAddress& address) {
  const auto failed = [&] {
    return absl::UnavailableError(StrCat("DNS over TCP at ", address.ToString(), ": ", ErrnoText(errno)));
  };
  http2::File socket(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) return failed();
  const int on = 1;
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.is_v6()) setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (bind(socket.get(), address.get(), address.size()) != 0 || listen(socket.get(), kBacklog) != 0)
    return failed();
  auto listener = std::make_unique<Listener>(this, std::move(socket));
  if (!poller_->Add(listener->get(), EPOLLIN, listener.get())) return failed();
  listeners_.push_back(std::move(listener));
  return absl::OkStatus();
}

void TcpClients::Accept(http2::File socket) {
  if (clients_.size() >= options_.most && !MakeRoom()) return;
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  getpeername(socket.get(), reinterpret_cast<sockaddr*>(&name), &size);
  const int on = 1;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  auto client =
      std::make_unique<Client>(this, std::move(socket), ++last_number_, SocketAddress::Of(name).port());
  if (!client->Begin()) return;
  by_number_[client->number()] = client.get();
  clients_.push_back(std::move(client));
  clients_.back()->place = std::prev(clients_.end());
}

// Without a silent connection the new one has to go.
bool TcpClients::MakeRoom() {
  const auto silent =
      std::find_if(clients_.begin(), clients_.end(), [](const auto& client) { return !client->waits(); });
  if (silent == clients_.end()) return false;
  Bury(silent->get());
  return true;
}

void TcpClients::Bury(Client* client) {
  by_number_.erase(client->number());
  std::unique_ptr<Client> owned = std::move(*client->place);
  clients_.erase(client->place);
  poller_->Bury(std::move(owned));
}

void TcpClients::Touch(Client* client) {
  client->touched = Clock::now();
  clients_.splice(clients_.end(), clients_, client->place);
}

void TcpClients::Pause(bool paused) {
  if (paused) {
    dns_log.Warn("no connection over TCP is taken for {} ms: the process has no file left", kPause.count());
    paused_until_ = Clock::now() + kPause;
  } else {
    paused_until_ = {};
  }
  for (const auto& listener : listeners_)
    poller_->Change(listener->get(), paused ? 0 : uint32_t{EPOLLIN}, listener.get());
}

void TcpClients::Send(uint64_t connection, std::string_view answer) {
  const auto client = by_number_.find(connection);
  if (client == by_number_.end()) return;
  Touch(client->second);
  client->second->Answer(answer);
}

// One that waits for a resolver is not silent.
void TcpClients::Expire(Clock::time_point now) {
  if (paused_until_ != Clock::time_point() && paused_until_ <= now) Pause(false);
  while (!clients_.empty() && clients_.front()->touched + options_.idle <= now) {
    Client* const client = clients_.front().get();
    if (client->waits()) {
      Touch(client);
    } else {
      Bury(client);
    }
  }
}

Clock::time_point TcpClients::next() const {
  Clock::time_point next =
      clients_.empty() ? Clock::time_point::max() : clients_.front()->touched + options_.idle;
  if (paused_until_ != Clock::time_point()) next = std::min(next, paused_until_);
  return next;
}

}  // namespace fairlead::dns
