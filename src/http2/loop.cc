#include "http2/loop.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/errno_text.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/thread.h"
#include "http2/grpc_stream.h"

namespace fairlead::http2 {
namespace {

LogScope transport_log("transport");

constexpr int kAcceptsPerTurn = 64;
constexpr std::chrono::milliseconds kAcceptPause{100};  // after the files had run out
constexpr size_t kOtherFiles = 256;                     // of the process, that connections leave

size_t MaxConnections(const Limits& limits) {
  if (limits.max_connections > 0) return limits.max_connections;
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  return std::max<size_t>(files.rlim_cur / 2, files.rlim_cur - std::min<size_t>(files.rlim_cur, kOtherFiles));
}

Guests::Options GuestsOf(const ServerOptions& options) {
  Guests::Options out;
  out.most = MaxConnections(options.limits);
  if (options.limits.max_connections_per_address > 0)
    out.most_per_address = options.limits.max_connections_per_address;
  for (const Listener& listener : options.listeners)
    out.identifies.push_back(listener.credentials != nullptr);
  return out;
}

}  // namespace

ServerShared::ServerShared(ServerOptions options)
    : service(std::move(options)), guests(GuestsOf(service.options())) {
  for (const Listener& listener : service.options().listeners)
    metrics.push_back(std::make_unique<ListenerMetrics>(listener.name));
}

void ServerShared::NoteGone() {
  connections.fetch_sub(1);
  std::lock_guard lock(mutex);
  gone.notify_all();
}

Loop::Loop(ServerShared* shared)
    : shared_(shared),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      read_budget_(shared->service.options().limits.max_partial),
      counts_(shared->metrics.size()) {}

Loop::~Loop() { Stop(); }

absl::Status Loop::Start() {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;
  event.data.ptr = nullptr;
  if (epoll_.get() < 0 || mailbox_->wake_file() < 0 ||
      epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, mailbox_->wake_file(), &event) != 0)
    return absl::ResourceExhaustedError(StrCat("no event loop: ", ErrnoText(errno)));
  auto thread = StartThread([this] {
    pthread_setname_np(pthread_self(), "transport");
    Run();
  });
  if (!thread.ok()) return thread.status();
  thread_ = *std::move(thread);
  return absl::OkStatus();
}

void Loop::Stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  mailbox_->PostTask([] {});
  thread_.join();
}

void Loop::Run() {
  mailbox_->EnterLoop();
  while (!stopping_) {
    Wait(read_budget_.Admit(now_));
    TakeTimers();
    // What a turn gives rise to at once is done before others are asked for.
    for (int i = 0; i < 4; ++i) {
      TakeMail();
      if (queue_.empty()) break;
      Turns();
    }
  }
  acceptors_.clear();
  while (!connections_.empty()) Remove(connections_.begin()->first);
  TellMetrics();
  mailbox_->Shut();
  mailbox_->LeaveLoop();
}

// Until something happens, or `next`. Connections' events are told from the loop's own by a bit that no
// pointer has set.
void Loop::Wait(Clock::time_point next) {
  std::array<epoll_event, 256> events;
  const bool sleep = queue_.empty() && mailbox_->Sleep();
  int timeout = 0;
  if (sleep) {
    TellMetrics();
    next = std::min(next, accept_again_);
    if (!timers_.empty()) next = std::min(next, timers_.begin()->first);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
    timeout = next == Clock::time_point::max() ? -1 : static_cast<int>(std::clamp<int64_t>(left, 0, 60000));
  }
  const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout);
  now_ = Clock::now();
  for (int i = 0; i < count; ++i) {
    void* const tag = events[static_cast<size_t>(i)].data.ptr;
    if (tag == nullptr) {
      mailbox_->Woken();
    } else if ((reinterpret_cast<uintptr_t>(tag) & 1) != 0) {
      Accept(*reinterpret_cast<Acceptor*>(static_cast<char*>(tag) - 1));
    } else {
      auto* const connection = static_cast<Connection*>(tag);
      connection->OnEvents(events[static_cast<size_t>(i)].events);
      Enqueue(connection);
    }
  }
}

void Loop::Enqueue(Connection* connection) {
  if (std::exchange(connection->queued, true)) return;
  queue_.push_back(connection);
}

void Loop::TakeMail() {
  mailbox_->Take(&mail_);
  for (Command& command : mail_.commands) {
    GrpcStream* const stream = command.stream.get();
    stream->Do(std::move(command));
  }
  mail_.commands.clear();
  for (const auto& task : mail_.tasks) task();
  mail_.tasks.clear();
}

void Loop::TakeTimers() {
  if (accept_again_ <= now_) PauseAccepting(false);
  while (!timers_.empty() && timers_.begin()->first <= now_) {
    Connection* const connection = timers_.begin()->second;
    timers_.erase(timers_.begin());
    connection->timer = Clock::time_point::max();
    Enqueue(connection);
  }
}

void Loop::Turns() {
  turn_.swap(queue_);
  for (Connection* connection : turn_) {
    connection->queued = false;
    const bool more = connection->Turn(now_);
    Settle(connection, more);
  }
  turn_.clear();
}

void Loop::Settle(Connection* connection, bool more) {
  const Clock::time_point next = connection->Done() ? Clock::time_point::max() : connection->Check(now_);
  if (connection->Done()) {
    if (!connection->EndSome()) return Enqueue(connection);
    connection->queued = true;  // by no one again
    std::erase(queue_, connection);
    return Remove(connection);
  }
  NoteYouth(connection);
  NoteStanding(connection);
  if (next < connection->timer) Arm(connection, next);
  if (more) Enqueue(connection);
}

void Loop::Arm(Connection* connection, Clock::time_point time) {
  if (connection->timer != Clock::time_point::max()) timers_.erase({connection->timer, connection});
  connection->timer = time;
  if (time != Clock::time_point::max()) timers_.emplace(time, connection);
}

void Loop::NoteYouth(Connection* connection) {
  if (connection->is_handshaking && connection->established()) {
    handshaking_.erase(connection->handshaking);
    connection->is_handshaking = false;
  }
}

void Loop::NoteStanding(Connection* connection) {
  const Standing standing = connection->standing();
  if (std::exchange(connection->known_standing, standing) != standing)
    shared_->guests.Note(connection->origin().guest, standing);
}

void Loop::Add(File socket, Connection::Origin origin) {
  const int yes = 1, descriptor = socket.get();
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  Counts& counts = counts_[origin.listener];
  auto owned = std::make_unique<Connection>(this, shared_->service, std::move(socket), std::move(origin),
                                            &counts, now_);
  Connection* const connection = owned.get();
  connections_.emplace(connection, std::move(owned));
  guests_.emplace(connection->origin().guest, connection);
  connection->handshaking = handshaking_.insert(handshaking_.end(), connection);
  connection->is_handshaking = true;
  if (handshaking_.size() > shared_->service.options().limits.max_handshakes) {
    Connection* const oldest = handshaking_.front();
    shared_->metrics[oldest->origin().listener]->Refused("handshakes");
    oldest->SendAway("too many handshakes");
    handshaking_.pop_front();
    oldest->is_handshaking = false;
  }
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = connection;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) != 0) connection->SendAway("no memory");
  Enqueue(connection);
}

void Loop::Remove(Connection* connection) {
  Arm(connection, Clock::time_point::max());
  if (connection->is_handshaking) handshaking_.erase(connection->handshaking);
  // A child that is forked meanwhile holds the socket, too, until it runs its program: to close it is not
  // enough for its events to end. Source: epoll(7), questions and answers, 6.
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, connection->socket(), nullptr);
  const uint64_t guest = connection->origin().guest;
  guests_.erase(guest);
  connections_.erase(connection);
  shared_->guests.Leave(guest);
  load_.fetch_sub(1, std::memory_order_relaxed);
  shared_->NoteGone();
}

void Loop::Adopt(File socket, Connection::Origin origin) {
  load_.fetch_add(1, std::memory_order_relaxed);
  auto held = std::make_shared<File>(std::move(socket));
  Ask([this, held, origin = std::move(origin)] { Add(std::move(*held), origin); });
}

void Loop::SendAway(uint64_t guest) {
  Ask([this, guest] {
    if (const auto found = guests_.find(guest); found != guests_.end()) found->second->SendAway("no room");
  });
}

void Loop::Listen(int socket, Place place) {
  Ask([this, socket, place = std::move(place)] {
    acceptors_.push_back({socket, place});
    PauseAccepting(false);
  });
}

void Loop::StopListening() {
  Ask([this] {
    for (const Acceptor& acceptor : acceptors_)
      epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, acceptor.socket, nullptr);
    acceptors_.clear();
  });
}

void Loop::PauseAccepting(bool pause) {
  accept_again_ = pause ? now_ + kAcceptPause : Clock::time_point::max();
  for (Acceptor& acceptor : acceptors_) {
    epoll_event event{};
    event.events = pause ? 0u : uint32_t{EPOLLIN};
    event.data.ptr = reinterpret_cast<char*>(&acceptor) + 1;
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, acceptor.socket, &event) != 0)
      epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, acceptor.socket, &event);
  }
}

void Loop::Accept(const Acceptor& acceptor) {
  for (int i = 0; i < kAcceptsPerTurn; ++i) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    File socket(
        accept4(acceptor.socket, reinterpret_cast<sockaddr*>(&address), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.get() < 0) {
      if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM) return;
      transport_log.Warn("no connection can be accepted: {}", ErrnoText(errno));
      return PauseAccepting(true);
    }
    const auto* const from = reinterpret_cast<sockaddr*>(&address);
    acceptor.place(std::move(socket), AddressText(from), AddressKey(from));
  }
}

void Loop::Drain(Clock::time_point end) {
  Ask([this, end] {
    std::vector<Connection*> all;
    all.reserve(connections_.size());
    for (const auto& [connection, owned] : connections_) all.push_back(connection);
    for (Connection* connection : all) {
      connection->EndWithServer(now_, end);
      Enqueue(connection);
    }
  });
}

std::vector<ConnectionInfo> Loop::Infos() const {
  std::vector<ConnectionInfo> infos;
  infos.reserve(connections_.size());
  for (const auto& [connection, owned] : connections_) infos.push_back(connection->Info(now_));
  return infos;
}

void Loop::TellMetrics() {
  for (size_t i = 0; i < counts_.size(); ++i) shared_->metrics[i]->Take(&counts_[i]);
}

}  // namespace fairlead::http2
