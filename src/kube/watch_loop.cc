#include "kube/watch_loop.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "base/strings.h"
#include "fetch/whole_answer.h"

namespace fairlead::kube {
namespace {

constexpr size_t kMostDocumentBytes = 128 << 20;
// How long events wait for others after the last ones, unless there are many bytes of them.
constexpr std::chrono::milliseconds kPatience{20};
constexpr size_t kPatientBytes = 256 << 10;
// How long the other watches wait until one knows whether the server has streaming lists.
constexpr std::chrono::milliseconds kLearning{500};

struct Message {
  enum class Type : uint8_t { kStatus, kBytes, kEnd };
  WatchLoop::Id watch = 0;
  uint64_t exchange = 0;
  Type type = Type::kBytes;
  int http_status = 0;
  std::string bytes = {};
  AnswerEnd end = {};
  bool events = false;  // bytes of a watch
};

AnswerEnd EndOf(const fetch::Outcome& outcome) {
  AnswerEnd end;
  end.retry_after = outcome.retry_after;
  if (outcome.status.ok()) return end;
  const bool large =
      outcome.status.code() == absl::StatusCode::kResourceExhausted && outcome.http_status != 0;
  end.reason = large ? AnswerEnd::Reason::kTooLarge : AnswerEnd::Reason::kBroken;
  end.message = FromAbsl(outcome.status.message());
  return end;
}

}  // namespace

// What the client's thread leaves for ours. Of exchanges that are over ours throws it away. Events are taken
// at once after a time of rest, and in a storm some at a time.
class WatchLoop::Mailbox {
 public:
  Mailbox(fetch::Client* client, size_t most_bytes) : client_(client), most_bytes_(most_bytes) {}

  // `alone`: the exchange has a connection of its own.
  void Put(Message message, fetch::Client::Handle handle, bool alone) {
    {
      std::lock_guard lock(mutex_);
      bytes_ += message.bytes.size();
      const size_t most = alone ? most_bytes_ / 4 : most_bytes_;
      // The handle is not known before Start has returned; until then little comes.
      if (message.type == Message::Type::kBytes && bytes_ > most && handle != 0) {
        client_->Pause(handle);
        paused_.insert(handle);
      }
      const bool first = messages_.empty();
      const bool pressing = !message.events || bytes_ > kPatientBytes;
      pressing_ |= pressing;
      messages_.push_back(std::move(message));
      if (!first && !pressing) return;
    }
    wake_.notify_one();
  }

  void Wake() {
    {
      std::lock_guard lock(mutex_);
      woken_ = true;
    }
    wake_.notify_one();
  }

  std::deque<Message> Take(ListWatch::Time until) {
    std::unique_lock lock(mutex_);
    wake_.wait_until(lock, until, [this] { return woken_ || !messages_.empty(); });
    wake_.wait_until(lock, std::min(until, taken_ + kPatience), [this] { return woken_ || pressing_; });
    woken_ = pressing_ = false;
    if (!messages_.empty()) taken_ = ListWatch::Clock::now();
    return std::exchange(messages_, {});
  }

  // That so many bytes were read.
  void Read(size_t bytes) {
    std::set<fetch::Client::Handle> resumed;
    {
      std::lock_guard lock(mutex_);
      bytes_ -= bytes;
      if (bytes_ <= most_bytes_ / 8) resumed = std::exchange(paused_, {});
    }
    for (const fetch::Client::Handle handle : resumed) client_->Resume(handle);
  }

 private:
  fetch::Client* const client_;
  const size_t most_bytes_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Message> messages_;
  std::set<fetch::Client::Handle> paused_;
  size_t bytes_ = 0;
  bool woken_ = false;
  bool pressing_ = false;    // one of messages_ is not to wait
  ListWatch::Time taken_{};  // when messages were taken last
};

class WatchLoop::Exchange : public fetch::Observer {
 public:
  using What = ListWatch::Target::What;
  Exchange(std::shared_ptr<Mailbox> mailbox, Id watch, uint64_t number, What what)
      : number(number), mailbox_(std::move(mailbox)), watch_(watch), what_(what) {}

  void OnHeaders(int status, const fetch::Headers& /*headers*/) override {
    Put({.type = Message::Type::kStatus, .http_status = status});
  }
  void OnData(std::string_view bytes) override {
    Put({.type = Message::Type::kBytes, .bytes = std::string(bytes), .events = what_ == What::kWatch});
  }
  void OnDone(const fetch::Outcome& outcome) override {
    Put({.type = Message::Type::kEnd, .end = EndOf(outcome)});
  }

  const uint64_t number;
  std::atomic<fetch::Client::Handle> handle{0};

 private:
  void Put(Message message) {
    message.watch = watch_;
    message.exchange = number;
    mailbox_->Put(std::move(message), handle, what_ == What::kWholeList);
  }
  const std::shared_ptr<Mailbox> mailbox_;
  const Id watch_;
  const What what_;
};

struct WatchLoop::Watch {
  Watch(Id id, ListWatch::Options options, config::JsonReader* reader, ListWatch::Receiver* receiver)
      : id(id), machine(std::move(options), reader, receiver) {}
  const Id id;
  ListWatch machine;
  std::unique_ptr<Exchange> exchange;  // null: none runs
  uint64_t exchanges = 0;
  bool unauthorized = false;
};

WatchLoop::WatchLoop(Options options, ServerAccess access, fetch::Client* client)
    : options_(std::move(options)),
      credentials_(std::move(access)),
      client_(client),
      mailbox_(std::make_shared<Mailbox>(client, options_.most_waiting_bytes)) {}

WatchLoop::~WatchLoop() {
  for (auto& [id, watch] : watches_) End(*watch);
  for (auto& watch : removed_) End(*watch);
}

WatchLoop::Id WatchLoop::Add(std::string path, const config::JsonFields* fields,
                             ListWatch::Receiver* receiver, std::string selector) {
  ListWatch::Options options = options_.watches;
  options.path = std::move(path);
  options.selector = std::move(selector);
  options.fields = fields;
  const Id id = ++last_id_;
  options.seed = options_.seed * 1'000'003 + id;
  watches_.emplace(id, std::make_unique<Watch>(id, std::move(options), &reader_, receiver));
  return id;
}

// It may be the one that is being fed.
void WatchLoop::Remove(Id id) {
  const auto it = watches_.find(id);
  if (it == watches_.end()) return;
  End(*it->second);
  removed_.push_back(std::move(it->second));
  watches_.erase(it);
}

const ListWatch* WatchLoop::Find(Id id) const {
  const auto it = watches_.find(id);
  return it == watches_.end() ? nullptr : &it->second->machine;
}

void WatchLoop::Hurry(Id id) {
  if (const auto it = watches_.find(id); it != watches_.end())
    it->second->machine.Hurry(ListWatch::Clock::now());
}

void WatchLoop::End(Watch& watch) {
  if (watch.exchange == nullptr) return;
  client_->Cancel(watch.exchange->handle);
  watch.exchange.reset();
}

ListWatch::Time WatchLoop::NextTick() const {
  auto next = ListWatch::Time::max();
  const auto now = ListWatch::Clock::now();
  for (const auto& [id, watch] : watches_)
    next = std::min(next, MustWait(*watch, now) ? asking_ends_ : watch->machine.NextTick());
  return next;
}

// Whether another watch is about to learn what decides about the next request.
bool WatchLoop::MustWait(const Watch& watch, ListWatch::Time now) const {
  if (streaming_ != Streaming::kUnknown || watch.id == asking_ || now >= asking_ends_) return false;
  const ListWatch* const asking = Find(asking_);
  return asking != nullptr && asking->streams() && watch.machine.WouldStream(now);
}

// For the next request. REQUIRES: it must not wait.
void WatchLoop::Prepare(Watch& watch, ListWatch::Time now) {
  if (!watch.machine.WouldStream(now)) return;
  if (streaming_ == Streaming::kMissing) return watch.machine.StopStreaming();
  if (streaming_ == Streaming::kThere) return;
  asking_ = watch.id;
  if (asking_ends_ == ListWatch::Time{}) asking_ends_ = now + kLearning;
}

void WatchLoop::Learn(const Watch& watch) {
  if (watch.machine.refused_streaming()) streaming_ = Streaming::kMissing;
}

void WatchLoop::Begin(Watch& watch, const ListWatch::Target& target, ListWatch::Time now) {
  using What = ListWatch::Target::What;
  absl::StatusOr<fetch::Request> request = credentials_.Get(target.path, &stopping_);
  if (!request.ok()) {
    const std::string text(FromAbsl(request.status().message()));
    return watch.machine.OnEnd(now, {AnswerEnd::Reason::kBroken, text});
  }
  request->headers.emplace_back("Accept: application/json");
  const bool list = target.what != What::kWatch;
  request->compressed = list && options_.compressed;  // a packer may hold events back
  // The server can be held up, and nobody else with it.
  request->own_connection = target.what == What::kWholeList;
  request->most_bytes = list ? options_.watches.most_list_bytes : fetch::Request::kUnlimited;
  request->most_held = 16 << 20;
  watch.exchange = std::make_unique<Exchange>(mailbox_, watch.id, ++watch.exchanges, target.what);
  watch.exchange->handle = client_->Start(*std::move(request), watch.exchange.get());
}

// A request that fails at once has to wait and is due again later: one round is enough.
void WatchLoop::Send() {
  const auto now = ListWatch::Clock::now();
  for (auto& [id, watch] : watches_) {
    watch->machine.Tick(now);
    if (watch->machine.TakeCancel()) End(*watch);
    if (watch->machine.trouble() == ListWatch::Trouble::kUnauthorized) {
      if (!std::exchange(watch->unauthorized, true)) credentials_.OnUnauthorized();
    } else {
      watch->unauthorized = false;
    }
    if (MustWait(*watch, now)) continue;
    Prepare(*watch, now);
    if (const auto target = watch->machine.TakeRequest(now)) Begin(*watch, *target, now);
  }
}

// A server that answers again has come back: whoever waits as it could not be reached tries at once.
void WatchLoop::TakeStatus(Watch& watch, int http_status, ListWatch::Time now) {
  constexpr int kOk = 200, kTooMany = 429, kServerError = 500;
  const auto is_cut_off = [](const ListWatch& machine) {
    return machine.failures() > 0 && machine.trouble() == ListWatch::Trouble::kUnreachable;
  };
  const bool is_back = is_cut_off(watch.machine) && http_status != kTooMany && http_status < kServerError;
  watch.machine.OnStatus(now, http_status);
  if (watch.machine.streams() && http_status == kOk && streaming_ == Streaming::kUnknown)
    streaming_ = Streaming::kThere;
  if (!is_back) return;
  for (auto& [id, other] : watches_) {
    if (is_cut_off(other->machine)) other->machine.Hurry(now);
  }
}

void WatchLoop::Deliver(ListWatch::Time until) {
  for (const Message& message : mailbox_->Take(until)) {
    const auto it = watches_.find(message.watch);
    const bool wanted = it != watches_.end() && it->second->exchange != nullptr &&
                        it->second->exchange->number == message.exchange;
    if (wanted) {
      Watch& watch = *it->second;
      const auto now = ListWatch::Clock::now();
      if (message.type == Message::Type::kStatus) TakeStatus(watch, message.http_status, now);
      if (message.type == Message::Type::kBytes) watch.machine.OnBytes(now, message.bytes);
      if (message.type == Message::Type::kEnd) {
        End(watch);
        watch.machine.OnEnd(now, message.end);
      }
      if (watch.machine.TakeCancel()) End(watch);
      Learn(watch);
    }
    mailbox_->Read(message.bytes.size());
  }
  removed_.clear();
}

bool WatchLoop::Run(ListWatch::Time until) {
  if (stopping_) return false;
  Send();
  // Far times are no times for a condition variable.
  const auto latest = ListWatch::Clock::now() + std::chrono::hours(1);
  Deliver(std::min({NextTick(), until, latest}));
  return !stopping_;
}

void WatchLoop::Stop() {
  stopping_ = true;
  mailbox_->Wake();
}

void WatchLoop::Wake() { mailbox_->Wake(); }

absl::StatusOr<config::Tree> WatchLoop::Get(const std::string& target, const std::string& accept) {
  absl::StatusOr<fetch::Request> request = credentials_.Get(target, &stopping_);
  if (!request.ok()) return request.status();
  request->headers.push_back(accept.empty() ? "Accept: application/json" : accept);
  request->most_bytes = kMostDocumentBytes;
  request->whole_limit = std::chrono::seconds(30);
  const fetch::WholeAnswer answer = fetch::AskAndWait(*client_, *std::move(request), &stopping_);
  if (!answer.outcome.status.ok()) return answer.outcome.status;
  const int status = answer.outcome.http_status;
  const std::string text = StrCat(target, ": ", status);
  if (status == 200) return reader_.Read(answer.body);
  if (status == 401) credentials_.OnUnauthorized();
  return status == 401   ? absl::UnauthenticatedError(text)
         : status == 403 ? absl::PermissionDeniedError(text)
         : status == 404 ? absl::NotFoundError(text)
                         : absl::UnavailableError(text);
}

}  // namespace fairlead::kube
