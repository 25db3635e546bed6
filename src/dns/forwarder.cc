#include "dns/forwarder.h"

#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/errno_text.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/strings.h"

namespace fairlead::dns {
namespace {

LogScope dns_log("dns");

constexpr size_t kPrefix = 2;  // of a message over TCP: its length

metrics::Counter& Requests() {
  static metrics::Counter& counter = metrics::GetCounter(
      "istio_agent_dns_upstream_requests_total", "Total number of DNS requests forwarded to upstream.");
  return counter;
}
metrics::Counter& Failures() {
  static metrics::Counter& counter =
      metrics::GetCounter("istio_agent_dns_upstream_failures_total", "Total number of DNS failures.");
  return counter;
}
metrics::Histogram& Duration() {
  static metrics::Histogram& histogram = metrics::GetHistogram(
      "istio_agent_dns_upstream_request_duration_seconds",
      "Total time in seconds Istio takes to get DNS response from upstream.", {.001, .005, .01, .1, 1, 5});
  return histogram;
}

uint32_t Random() {
  uint32_t number = 0;
  // So few bytes are never cut off.
  static_cast<void>(!getrandom(&number, sizeof number, 0));
  return number;
}

uint32_t KeyOf(uint16_t id, uint16_t port) { return uint32_t{id} << 16 | port; }

uint16_t PortOf(int socket) {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&name), &size) != 0) return 0;
  return SocketAddress::Of(name).port();
}

}  // namespace

// A client's query, until it is answered.
struct Forwarder::Exchange {
  std::string query;
  uint16_t client_id = 0;
  size_t limit = 0;
  ReplyPath origin;
  std::vector<size_t> order;  // resolvers still to ask, the next one last
  Clock::time_point begun = Clock::now();
  std::vector<Attempt*> attempts;  // under way
};

// The exchange with one resolver.
class Forwarder::Attempt final : public Watcher {
 public:
  Attempt(Forwarder* owner, std::shared_ptr<Exchange> exchange, const SocketAddress& resolver)
      : owner_(owner), exchange_(std::move(exchange)), resolver_(resolver) {}

  // The reason why it cannot begin; "" where it has.
  std::string Begin() {
    const bool tcp = exchange_->origin.transport == DnsTransport::kTcp;
    socket_ = http2::File(
        socket(resolver_.family(), (tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (socket_.get() < 0) return ErrnoText(errno);
    if (connect(socket_.get(), resolver_.get(), resolver_.size()) != 0 && errno != EINPROGRESS)
      return ErrnoText(errno);
    id_ = static_cast<uint16_t>(Random());
    port_ = PortOf(socket_.get());
    query_ = exchange_->query;
    SetId(id_, &query_);
    if (!tcp) {
      if (send(socket_.get(), query_.data(), query_.size(), MSG_NOSIGNAL) < 0) return ErrnoText(errno);
    } else {
      out_ = {static_cast<char>(query_.size() >> 8), static_cast<char>(query_.size() & 0xff)};
      out_ += query_;
    }
    if (!owner_->poller_->Add(socket_.get(), tcp ? EPOLLIN | EPOLLOUT : EPOLLIN, this))
      return ErrnoText(errno);
    return "";
  }

  void OnReady(uint32_t /*events*/) override {
    if (exchange_->origin.transport == DnsTransport::kUdp) return ReadUdp();
    if (out_.empty() || Write()) ReadTcp();
  }

  std::shared_ptr<Exchange> exchange() const { return exchange_; }
  const SocketAddress& resolver() const { return resolver_; }
  Clock::time_point deadline() const { return begun_ + owner_->options_.timeout; }
  uint32_t key() const { return KeyOf(id_, port_); }
  std::list<std::unique_ptr<Attempt>>::iterator place;

 private:
  void ReadUdp() {
    // A reply of an earlier query, or of nobody's, is passed over.
    std::string reply(kMostTcp, '\0');
    for (int i = 0; i < 16; ++i) {
      const ssize_t size = recv(socket_.get(), reply.data(), reply.size(), 0);
      if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (size < 0) return owner_->OnError(this, ErrnoText(errno));
      const std::string_view bytes(reply.data(), static_cast<size_t>(size));
      if (Answers(bytes, query_, id_)) return owner_->OnReply(this, std::string(bytes));
    }
  }

  // False: it has failed.
  bool Write() {
    while (sent_ < out_.size()) {
      const ssize_t size = send(socket_.get(), out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0 && errno == EAGAIN) return true;
      if (size < 0) {
        owner_->OnError(this, ErrnoText(errno));
        return false;
      }
      sent_ += static_cast<size_t>(size);
    }
    out_.clear();
    owner_->poller_->Change(socket_.get(), EPOLLIN, this);
    return true;
  }

  size_t Wanted() const {
    if (in_.size() < kPrefix) return kPrefix;
    return kPrefix + (static_cast<size_t>(static_cast<uint8_t>(in_[0])) << 8 | static_cast<uint8_t>(in_[1]));
  }

  void ReadTcp() {
    while (in_.size() < kPrefix || in_.size() < Wanted()) {
      const size_t had = in_.size();
      in_.resize(Wanted());
      const ssize_t size = recv(socket_.get(), in_.data() + had, in_.size() - had, 0);
      in_.resize(had + static_cast<size_t>(std::max<ssize_t>(size, 0)));
      if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (size < 0) return owner_->OnError(this, ErrnoText(errno));
      if (size == 0) return owner_->OnError(this, "the connection ended without an answer");
    }
    in_.erase(0, kPrefix);
    if (!Answers(in_, query_, id_)) return owner_->OnError(this, "its answer is of another question");
    owner_->OnReply(this, std::move(in_));
  }

  Forwarder* const owner_;
  const std::shared_ptr<Exchange> exchange_;
  const SocketAddress resolver_;
  const Clock::time_point begun_ = Clock::now();
  http2::File socket_;
  uint16_t id_ = 0, port_ = 0;
  std::string query_;     // with id_
  std::string out_, in_;  // of TCP, with the prefix
  size_t sent_ = 0;
};

Forwarder::Forwarder(Options options, Poller* poller, Deliver deliver)
    : options_(std::move(options)), poller_(poller), deliver_(std::move(deliver)) {}

Forwarder::~Forwarder() = default;

void Forwarder::Ask(std::string_view message, size_t limit, const ReplyPath& origin) {
  Requests().Add();
  auto exchange = std::make_shared<Exchange>();
  exchange->query = message;
  exchange->client_id =
      static_cast<uint16_t>(static_cast<uint8_t>(message[0]) << 8 | static_cast<uint8_t>(message[1]));
  exchange->limit = limit;
  exchange->origin = origin;
  for (size_t i = 0; i < options_.resolvers.size(); ++i) exchange->order.push_back(i);
  for (size_t left = exchange->order.size(); left > 1; --left)
    std::swap(exchange->order[left - 1], exchange->order[Random() % left]);
  Advance(exchange);
}

// The next resolver, or all of them; without any, the failure.
void Forwarder::Advance(const std::shared_ptr<Exchange>& exchange) {
  while (!exchange->order.empty()) {
    const size_t next = exchange->order.back();
    exchange->order.pop_back();
    if (Start(exchange, options_.resolvers[next]) && !options_.parallel) return;
  }
  if (!exchange->attempts.empty()) return;
  Failures().Add();
  End(exchange, ErrorAnswer(exchange->query, kRcodeServerFailure));
}

bool Forwarder::Start(const std::shared_ptr<Exchange>& exchange, const SocketAddress& resolver) {
  std::string why = StrCat("more than ", options_.most_sockets, " queries wait for an answer");
  if (attempts_.size() < options_.most_sockets) {
    auto attempt = std::make_unique<Attempt>(this, exchange, resolver);
    why = attempt->Begin();
    if (why.empty()) {
      own_.insert(attempt->key());
      exchange->attempts.push_back(attempt.get());
      attempts_.push_back(std::move(attempt));
      attempts_.back()->place = std::prev(attempts_.end());
      return true;
    }
    poller_->Bury(std::move(attempt));
  }
  if (const auto left_out = rate_.Admit(resolver.host()))
    dns_log.Warn("the resolver {} is not asked: {}{}", resolver.ToString(), why, *left_out);
  return false;
}

void Forwarder::Bury(Attempt* attempt) {
  own_.erase(attempt->key());
  std::erase(attempt->exchange()->attempts, attempt);
  std::unique_ptr<Attempt> owned = std::move(*attempt->place);
  attempts_.erase(attempt->place);
  poller_->Bury(std::move(owned));
}

void Forwarder::OnReply(Attempt* attempt, std::string reply) {
  const std::shared_ptr<Exchange> exchange = attempt->exchange();
  SetId(exchange->client_id, &reply);
  if (!Truncate(exchange->limit, &reply)) return OnError(attempt, "its answer cannot be read");
  End(exchange, std::move(reply));
}

void Forwarder::OnError(Attempt* attempt, const std::string& why) {
  if (const auto left_out = rate_.Admit(attempt->resolver().host()))
    dns_log.Info("the resolver {} does not answer: {}{}", attempt->resolver().ToString(), why, *left_out);
  const std::shared_ptr<Exchange> exchange = attempt->exchange();
  Bury(attempt);
  Advance(exchange);
}

void Forwarder::End(const std::shared_ptr<Exchange>& exchange, std::string answer) {
  while (!exchange->attempts.empty()) Bury(exchange->attempts.back());
  Duration().Observe(std::chrono::duration<double>(Clock::now() - exchange->begun).count());
  deliver_(exchange->origin, std::move(answer));
}

bool Forwarder::IsOwn(uint16_t id, uint16_t port) const { return own_.contains(KeyOf(id, port)); }

void Forwarder::Expire(Clock::time_point now) {
  while (!attempts_.empty() && attempts_.front()->deadline() <= now)
    OnError(attempts_.front().get(), StrCat("none within ", options_.timeout.count(), " ms"));
}

Clock::time_point Forwarder::next() const {
  return attempts_.empty() ? Clock::time_point::max() : attempts_.front()->deadline();
}

}  // namespace fairlead::dns
