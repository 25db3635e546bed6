#include "fetch/loop.h"

#include <curl/curl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>

#include "base/thread.h"

namespace fairlead::fetch {
namespace {

constexpr size_t kMostEvents = 64;

CURLM* NewMulti() {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  return ready == CURLE_OK ? curl_multi_init() : nullptr;
}

}  // namespace

Client::Loop::Loop(const Options& options)
    : options_(options), poll_(epoll_create1(EPOLL_CLOEXEC)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  SetUp(shared_);
  SetUp(own_);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = wake_;
  epoll_ctl(poll_, EPOLL_CTL_ADD, wake_, &event);
  thread_ = RequireThread([this] {
    pthread_setname_np(pthread_self(), "fetch");
    exchanges_.gate.SetThread(std::this_thread::get_id());
    Run();
  });
}

void Client::Loop::SetUp(Pool& pool) {
  pool.multi = NewMulti();
  pool.poll = poll_;
  if (pool.multi == nullptr || poll_ < 0 || wake_ < 0) {  // as without a thread: see base/thread.h
    std::fprintf(stderr, "fairlead: no memory or descriptor for the HTTP client\n");
    std::_Exit(EXIT_FAILURE);
  }
  const auto set = [&pool](CURLMoption option, auto value) { curl_multi_setopt(pool.multi, option, value); };
  set(CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_MULTIPLEX));  // NOLINT: libcurl's type
  set(CURLMOPT_MAX_CONCURRENT_STREAMS, static_cast<long>(options_.streams_per_connection));  // NOLINT
  set(CURLMOPT_MAXCONNECTS, static_cast<long>(options_.idle_connections));                   // NOLINT
  set(CURLMOPT_SOCKETFUNCTION, &Loop::SetSocket);
  set(CURLMOPT_SOCKETDATA, &pool);
  set(CURLMOPT_TIMERFUNCTION, &Loop::SetTimer);
  set(CURLMOPT_TIMERDATA, &pool);
}

Client::Loop::~Loop() {
  {
    const std::lock_guard lock(mutex_);
    left_.stopping = true;
  }
  Wake();
  thread_.join();
  for (const auto& [handle, transfer] : transfers_) {
    exchanges_.gate.Close(*transfer->pass());
    if (transfer->curl() != nullptr) curl_multi_remove_handle(PoolOf(*transfer).multi, transfer->curl());
  }
  transfers_.clear();
  for (const Pool* pool : {&shared_, &own_}) curl_multi_cleanup(pool->multi);
  close(wake_);
  close(poll_);
}

// --- Any thread

Client::Handle Client::Loop::Start(Request request, Transfer::Target target) {
  absl::Status ready = CheckRequest(request);
  absl::StatusOr<std::string> token = std::string();
  if (ready.ok()) token = TokenOf(request);
  if (!token.ok()) ready = token.status();
  std::unique_lock lock(mutex_);
  const Handle handle = ++last_;
  if (passes_.size() >= options_.most_exchanges)
    ready = absl::ResourceExhaustedError("too many requests are under way");
  auto transfer = std::make_unique<Transfer>(exchanges_, handle, std::move(request), std::move(target),
                                             std::move(ready), token.ok() ? *std::move(token) : "");
  passes_.emplace(handle, transfer->pass());
  left_.started.push_back(std::move(transfer));
  lock.unlock();
  Wake();
  return handle;
}

std::shared_ptr<Gate::Pass> Client::Loop::PassOf(Handle handle) {
  const std::lock_guard lock(mutex_);
  const auto found = passes_.find(handle);
  return found == passes_.end() ? nullptr : found->second;
}

void Client::Loop::Cancel(Handle handle) {
  const std::shared_ptr<Gate::Pass> pass = PassOf(handle);
  if (pass == nullptr) return;
  exchanges_.gate.Close(*pass);
  WakeFor({Wish::kCancel, handle});
}

void Client::Loop::Pause(Handle handle) {
  if (const auto pass = PassOf(handle)) exchanges_.gate.SetPaused(*pass, true);
}

void Client::Loop::Resume(Handle handle) {
  const std::shared_ptr<Gate::Pass> pass = PassOf(handle);
  if (pass == nullptr) return;
  exchanges_.gate.SetPaused(*pass, false);
  WakeFor({Wish::kResume, handle});
}

void Client::Loop::WakeFor(Wish wish) {
  {
    const std::lock_guard lock(mutex_);
    left_.wishes.push_back(wish);
  }
  Wake();
}

void Client::Loop::Wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof one);  // full: it will wake anyway
}

// --- Its own thread

void Client::Loop::Run() {
  for (;;) {
    Wait();
    Left left = TakeLeft();
    if (left.stopping) return;
    TakeConnected();
    for (auto& started : left.started) Begin(std::move(started));
    for (const Wish& wish : left.wishes) Fulfil(wish);
    TakeEnded();
    EndLate();
  }
}

int Client::Loop::MillisecondsToWait() const {
  Clock::time_point next = Clock::time_point::max();
  for (const Pool* pool : {&shared_, &own_}) next = std::min(next, pool->timer.value_or(next));
  if (!deadlines_.empty()) next = std::min(next, deadlines_.begin()->first);
  if (next == Clock::time_point::max()) return -1;
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(wait, 0, INT_MAX));
}

// In a storm of small pieces some are gathered first. Other threads' wishes do not wait for them.
void Client::Loop::Gather() {
  const std::chrono::milliseconds most(MillisecondsToWait());
  const std::chrono::milliseconds time = most.count() < 0 ? pace_.Pause() : std::min(most, pace_.Pause());
  pollfd wake{wake_, POLLIN, 0};
  if (time.count() > 0) poll(&wake, 1, static_cast<int>(time.count()));
}

int Client::Loop::AwaitEvents(epoll_event* events, int most) {
  Gather();
  return epoll_wait(poll_, events, most, MillisecondsToWait());
}

void Client::Loop::Wait() {
  std::array<epoll_event, kMostEvents> events{};
  const int count = AwaitEvents(events.data(), static_cast<int>(events.size()));
  int running = 0;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<size_t>(i)];
    if (event.data.fd == wake_) {
      uint64_t wakes = 0;
      [[maybe_unused]] const ssize_t got = read(wake_, &wakes, sizeof wakes);
      continue;
    }
    int what = 0;
    if ((event.events & EPOLLIN) != 0) what |= CURL_CSELECT_IN;
    if ((event.events & EPOLLOUT) != 0) what |= CURL_CSELECT_OUT;
    if ((event.events & (EPOLLERR | EPOLLHUP)) != 0) what |= CURL_CSELECT_ERR;
    const Pool& pool = own_.sockets.contains(event.data.fd) ? own_ : shared_;
    curl_multi_socket_action(pool.multi, event.data.fd, what, &running);
  }
  for (Pool* const pool : {&shared_, &own_}) {
    if (!pool->timer || Clock::now() < *pool->timer) continue;
    pool->timer.reset();
    curl_multi_socket_action(pool->multi, CURL_SOCKET_TIMEOUT, 0, &running);
  }
  if (const uint64_t bytes = std::exchange(exchanges_.bytes, 0); bytes > 0) pace_.OnRead(bytes, Clock::now());
}

int Client::Loop::SetSocket(CURL*, curl_socket_t socket, int wanted, void* pool, void*) {
  const int poll = static_cast<Pool*>(pool)->poll;
  if (wanted == CURL_POLL_REMOVE) {
    static_cast<Pool*>(pool)->sockets.erase(socket);
    epoll_ctl(poll, EPOLL_CTL_DEL, socket, nullptr);
    return 0;
  }
  static_cast<Pool*>(pool)->sockets.insert(socket);
  epoll_event event{};
  event.data.fd = socket;
  if ((wanted & CURL_POLL_IN) != 0) event.events |= EPOLLIN;
  if ((wanted & CURL_POLL_OUT) != 0) event.events |= EPOLLOUT;
  if (epoll_ctl(poll, EPOLL_CTL_MOD, socket, &event) != 0 && errno == ENOENT)
    epoll_ctl(poll, EPOLL_CTL_ADD, socket, &event);
  return 0;
}

int Client::Loop::SetTimer(CURLM*, long milliseconds, void* pool) {
  auto& timer = static_cast<Pool*>(pool)->timer;
  timer.reset();
  if (milliseconds >= 0) timer = Clock::now() + std::chrono::milliseconds(milliseconds);
  return 0;
}

Client::Loop::Left Client::Loop::TakeLeft() {
  const std::lock_guard lock(mutex_);
  Left left = std::exchange(left_, {});
  left_.stopping = left.stopping;
  if (!left.stopping) return left;
  // All that is there is ended by the destructor.
  for (auto& started : left.started) {
    const Handle handle = started->handle();
    transfers_.emplace(handle, std::move(started));
  }
  return left;
}

void Client::Loop::Begin(std::unique_ptr<Transfer> started) {
  Transfer& transfer = *started;
  transfers_.emplace(transfer.handle(), std::move(started));
  absl::Status status = transfer.Prepare();
  if (!status.ok()) return End(transfer, std::move(status));
  curl_easy_setopt(transfer.curl(), CURLOPT_MAXAGE_CONN,
                   static_cast<long>(options_.connection_age.count()));  // NOLINT: libcurl's type
  Arm(transfer);
  const std::optional<OneAtATime::Place> place = transfer.Place();
  if (!place || turns_.Take(*place, transfer.handle())) Connect(transfer);
}

void Client::Loop::Connect(Transfer& transfer) {
  const CURLMcode added = curl_multi_add_handle(PoolOf(transfer).multi, transfer.curl());
  if (added != CURLM_OK) End(transfer, absl::ResourceExhaustedError(curl_multi_strerror(added)));
}

void Client::Loop::TakeConnected() {
  for (const Handle handle : std::exchange(exchanges_.connected, {})) {
    const auto found = transfers_.find(handle);
    if (found != transfers_.end()) Arm(*found->second);
    LeaveTurn(handle);
  }
}

void Client::Loop::LeaveTurn(Handle handle) {
  const std::optional<OneAtATime::Exchange> next = turns_.Leave(handle);
  if (!next) return;
  const auto found = transfers_.find(*next);
  if (found != transfers_.end()) Connect(*found->second);
}

// libcurl 7.88 keeps a stream's reset back until it has more to say on the connection: one of the others
// there is made to, and a connection without others is closed.
void Client::Loop::Remove(Transfer& transfer, bool whole) {
  if (transfer.curl() == nullptr) return;
  const long port = whole ? 0 : transfer.SharedPort();  // NOLINT: libcurl's type
  curl_easy_setopt(transfer.curl(), CURLOPT_FORBID_REUSE, 1L);
  curl_multi_remove_handle(PoolOf(transfer).multi, transfer.curl());
  if (port == 0) return;
  for (const auto& [handle, other] : transfers_) {
    if (other.get() != &transfer && other->SharedPort() == port) other->Flush();
  }
}

void Client::Loop::Fulfil(const Wish& wish) {
  const auto found = transfers_.find(wish.handle);
  if (found == transfers_.end()) return;
  Transfer& transfer = *found->second;
  if (wish.what == Wish::kCancel || transfer.Resume()) return Forget(wish.handle);
  Arm(transfer);
}

void Client::Loop::TakeEnded() {
  for (const Pool* pool : {&shared_, &own_}) {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(pool->multi, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode result = message->data.result;
      void* transfer = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
      auto& ended = *static_cast<Transfer*>(transfer);
      End(ended, ended.StatusOf(result));
    }
  }
}

void Client::Loop::EndLate() {
  const Clock::time_point now = Clock::now();
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    Transfer& transfer = *transfers_.find(deadlines_.begin()->second)->second;
    Arm(transfer);
    if (transfer.armed && *transfer.armed <= now) End(transfer, transfer.Late(now));
  }
}

void Client::Loop::End(Transfer& transfer, absl::Status status) {
  Disarm(transfer);
  Remove(transfer, status.ok());
  LeaveTurn(transfer.handle());
  const bool over = transfer.End(std::move(status));
  if (over) Forget(transfer.handle());
}

void Client::Loop::Forget(Handle handle) {
  const auto found = transfers_.find(handle);
  Disarm(*found->second);
  Remove(*found->second, /*whole=*/false);
  transfers_.erase(found);
  LeaveTurn(handle);
  const std::lock_guard lock(mutex_);
  passes_.erase(handle);
}

void Client::Loop::Arm(Transfer& transfer) {
  const std::optional<Clock::time_point> next = transfer.Deadline();
  if (next == transfer.armed) return;
  Disarm(transfer);
  transfer.armed = next;
  if (next) deadlines_.emplace(*next, transfer.handle());
}

void Client::Loop::Disarm(Transfer& transfer) {
  if (transfer.armed) deadlines_.erase({*transfer.armed, transfer.handle()});
  transfer.armed.reset();
}

}  // namespace fairlead::fetch
