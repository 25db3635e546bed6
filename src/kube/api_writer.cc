#include "kube/api_writer.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "base/thread.h"

namespace fairlead::kube {
namespace {

using Milliseconds = std::chrono::milliseconds;

ApiAnswer Failed(absl::Status status) { return {.status = std::move(status)}; }

}  // namespace

// What other threads leave for ours: requests, work, and answers of the client's.
class ApiWriter::Mailbox {
 public:
  struct Answer {
    uint64_t number;
    fetch::WholeAnswer answer;
  };
  struct Letters {
    std::vector<Errand> errands;
    std::vector<std::pair<Clock::time_point, Work>> works;
    std::vector<Answer> answers;
  };

  explicit Mailbox(size_t most_waiting) : most_waiting_(most_waiting) {}

  // Gives it back where the writer has stopped.
  std::optional<Errand> Put(Errand errand) {
    {
      std::lock_guard lock(mutex_);
      if (stopped_) return errand;
      if (errand.refusal.ok() && waiting_ >= most_waiting_) {
        errand.request = {};
        errand.refusal = absl::ResourceExhaustedError("too many requests wait for the API server");
      }
      if (errand.refusal.ok()) ++waiting_;
      letters_.errands.push_back(std::move(errand));
    }
    wake_.notify_one();
    return std::nullopt;
  }
  void Put(Clock::time_point at, Work work) {
    {
      std::lock_guard lock(mutex_);
      if (stopped_) return;
      letters_.works.emplace_back(at, std::move(work));
    }
    wake_.notify_one();
  }
  void Put(uint64_t number, fetch::WholeAnswer answer) {
    {
      std::lock_guard lock(mutex_);
      letters_.answers.push_back({number, std::move(answer)});
    }
    wake_.notify_one();
  }
  void Stop() {
    {
      std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    wake_.notify_one();
  }
  // One of the errands is over.
  void OnFinished() {
    std::lock_guard lock(mutex_);
    --waiting_;
  }
  Letters Take(Clock::time_point until) {
    std::unique_lock lock(mutex_);
    const auto is_there = [this] {
      return stopped_ || !letters_.errands.empty() || !letters_.works.empty() || !letters_.answers.empty();
    };
    if (until == Clock::time_point::max()) {
      wake_.wait(lock, is_there);
    } else {
      wake_.wait_until(lock, until, is_there);
    }
    return std::exchange(letters_, {});
  }
  bool stopping() const { return stopped_; }
  const std::atomic<bool>* stopped() const { return &stopped_; }

 private:
  const size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable wake_;
  Letters letters_;                   // guarded by mutex_
  size_t waiting_ = 0;                // guarded by mutex_: errands that are not over
  std::atomic<bool> stopped_{false};  // changed under mutex_
};

ApiWriter::ApiWriter(Options options, ServerAccess access, fetch::Client* client)
    : options_(options),
      client_(client),
      mailbox_(std::make_shared<Mailbox>(options.most_waiting)),
      credentials_(std::move(access)),
      random_(options.seed),
      tokens_(options.burst),
      thread_(RequireThread([this] { Loop(); })) {}

ApiWriter::ApiWriter(Options options, Transport transport)
    : options_(options),
      client_(nullptr),
      transport_(std::move(transport)),
      mailbox_(std::make_shared<Mailbox>(options.most_waiting)),
      credentials_(ServerAccess()),
      random_(options.seed),
      tokens_(options.burst),
      thread_(RequireThread([this] { Loop(); })) {}

ApiWriter::~ApiWriter() { Stop(); }

void ApiWriter::Send(ApiRequest request, Done done) {
  Errand errand{std::move(request), std::move(done)};
  const size_t size = errand.request.body.size();
  if (size > options_.most_body) {
    errand.request = {};
    errand.refusal = absl::InvalidArgumentError(StrCat("a body of ", size, " bytes is too long"));
  }
  const std::optional<Errand> late = mailbox_->Put(std::move(errand));
  if (late) late->done(Failed(absl::CancelledError("stopped")));
}

ApiAnswer ApiWriter::SendAndWait(ApiRequest request) {
  struct Place {
    std::mutex mutex;
    std::condition_variable came;
    std::optional<ApiAnswer> answer;
  };
  const auto place = std::make_shared<Place>();
  Send(std::move(request), [place](const ApiAnswer& answer) {
    std::lock_guard lock(place->mutex);
    place->answer = answer;
    place->came.notify_all();
  });
  std::unique_lock lock(place->mutex);
  place->came.wait(lock, [&] { return place->answer.has_value(); });
  return *std::move(place->answer);
}

void ApiWriter::Run(Work work, Clock::time_point at) { mailbox_->Put(at, std::move(work)); }

void ApiWriter::Stop() {
  mailbox_->Stop();
  if (thread_.joinable()) thread_.join();
}

void ApiWriter::Loop() {
  while (!mailbox_->stopping()) {
    TakeNew();
    SendDue();
  }
  CancelAll();
}

void ApiWriter::TakeNew() {
  Mailbox::Letters letters = mailbox_->Take(NextTime());
  for (Errand& errand : letters.errands) {
    if (!errand.refusal.ok()) {
      errand.done(Failed(errand.refusal));
      continue;
    }
    auto& queue = errand.request.urgent ? urgent_ : patient_;
    queue.push_back(std::move(errand));
  }
  for (auto& [at, work] : letters.works) works_.emplace(at, std::move(work));
  for (Mailbox::Answer& one : letters.answers) TakeAnswer(one.number, std::move(one.answer));
  while (RunDue()) {
  }
}

// One work that is due; false: there is none.
bool ApiWriter::RunDue() {
  if (works_.empty() || works_.begin()->first > Clock::now() || mailbox_->stopping()) return false;
  const Work work = std::move(works_.extract(works_.begin()).mapped());
  work();
  return true;
}

void ApiWriter::SendDue() {
  const auto now = Clock::now();
  while (!later_.empty() && later_.begin()->first <= now) {
    Errand errand = std::move(later_.extract(later_.begin()).mapped());
    auto& queue = errand.request.urgent ? urgent_ : patient_;
    queue.push_front(std::move(errand));
  }
  while (!urgent_.empty()) {
    Errand errand = std::move(urgent_.front());
    urgent_.pop_front();
    Start(std::move(errand));
  }
  while (!patient_.empty() && patient_running_ < options_.most_at_once && quiet_until_ <= now &&
         TakeToken(now)) {
    Errand errand = std::move(patient_.front());
    patient_.pop_front();
    Start(std::move(errand));
  }
}

bool ApiWriter::TakeToken(Clock::time_point now) {
  if (options_.per_second <= 0) return true;
  const std::chrono::duration<double> since = now - counted_;
  tokens_ = std::min(std::max(options_.burst, 1.0), tokens_ + since.count() * options_.per_second);
  counted_ = now;
  if (tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

// When something is due, unless an answer or a request comes before.
Clock::time_point ApiWriter::NextTime() const {
  auto next = Clock::time_point::max();
  if (!works_.empty()) next = works_.begin()->first;
  if (!later_.empty()) next = std::min(next, later_.begin()->first);
  if (!patient_.empty() && patient_running_ < options_.most_at_once) {
    auto at = std::max(quiet_until_, counted_);
    if (options_.per_second > 0 && tokens_ < 1) {
      const std::chrono::duration<double> missing((1 - tokens_) / options_.per_second);
      at = std::max(at, counted_ + std::chrono::ceil<Milliseconds>(missing));
    }
    next = std::min(next, at);
  }
  return next;
}

void ApiWriter::Start(Errand errand) {
  if (errand.request.valid && !errand.request.valid())
    return Finish(std::move(errand), Failed(absl::CancelledError("not valid any more")));
  ++errand.tried;
  if (client_ == nullptr) return Pass(std::move(errand));
  absl::StatusOr<fetch::Request> http = credentials_.Get(TargetOf(errand.request), mailbox_->stopped());
  const uint64_t number = ++last_number_;
  const bool urgent = errand.request.urgent;
  if (http.ok()) {
    Fill(errand.request, &*http);
    http->most_bytes = options_.most_answer;
  }
  Running& running = running_.emplace(number, Running{std::move(errand)}).first->second;
  if (!urgent) ++patient_running_;
  if (!http.ok()) {
    fetch::WholeAnswer failed;
    failed.outcome.status = http.status();
    return mailbox_->Put(number, std::move(failed));
  }
  running.handle = fetch::Ask(
      *client_, *std::move(http),
      [mailbox = mailbox_, number](fetch::WholeAnswer answer) { mailbox->Put(number, std::move(answer)); });
}

void ApiWriter::Pass(Errand errand) {
  const uint64_t number = ++last_number_;
  const ApiRequest request = errand.request;
  if (!request.urgent) ++patient_running_;
  running_.emplace(number, Running{std::move(errand)});
  transport_(request, [mailbox = mailbox_, number](fetch::WholeAnswer answer) {
    mailbox->Put(number, std::move(answer));
  });
}

void ApiWriter::TakeAnswer(uint64_t number, fetch::WholeAnswer answer) {
  const auto it = running_.find(number);
  if (it == running_.end()) return;
  Errand errand = std::move(it->second.errand);
  running_.erase(it);
  if (!errand.request.urgent) --patient_running_;
  ApiAnswer result;
  result.http_status = answer.outcome.http_status;
  result.status =
      answer.outcome.status.ok() ? StatusOfAnswer(result.http_status, answer.body) : answer.outcome.status;
  if (result.status.ok()) result.body = std::move(answer.body);
  if (result.http_status == 401) credentials_.OnUnauthorized();
  if (Again(&errand, result, answer.outcome)) return;
  Finish(std::move(errand), result);
}

// Whether it is tried again; then it waits for that.
bool ApiWriter::Again(Errand* errand, const ApiAnswer& answer, const fetch::Outcome& outcome) {
  const bool passing = absl::IsUnavailable(answer.status) || absl::IsDeadlineExceeded(answer.status) ||
                       absl::IsUnauthenticated(answer.status);
  Milliseconds pause = Backoff(errand->tried);
  if (outcome.retry_after)
    pause = std::max(pause, std::min<Milliseconds>(*outcome.retry_after, options_.most_retry_after));
  if (answer.http_status == 429) quiet_until_ = std::max(quiet_until_, Clock::now() + pause);
  if (!passing || errand->tried >= errand->request.tries) return false;
  later_.emplace(Clock::now() + pause, std::move(*errand));
  return true;
}

Milliseconds ApiWriter::Backoff(int tried) {
  const auto doubled = options_.first_backoff * (int64_t{1} << std::clamp(tried - 1, 0, 20));
  const Milliseconds most = std::min<Milliseconds>(doubled, options_.most_backoff);
  return Milliseconds(std::uniform_int_distribution<int64_t>(most.count() / 2, most.count())(random_));
}

void ApiWriter::Finish(Errand errand, const ApiAnswer& answer) {
  if (errand.refusal.ok()) mailbox_->OnFinished();
  errand.done(answer);
}

void ApiWriter::CancelAll() {
  const ApiAnswer cancelled = Failed(absl::CancelledError("stopped"));
  std::vector<Errand> all;
  for (auto& [number, running] : running_) {
    if (client_ != nullptr) client_->Cancel(running.handle);
    all.push_back(std::move(running.errand));
  }
  for (auto& [at, errand] : later_) all.push_back(std::move(errand));
  Mailbox::Letters letters = mailbox_->Take(Clock::now());
  for (auto* queue : {&urgent_, &patient_}) std::move(queue->begin(), queue->end(), std::back_inserter(all));
  std::move(letters.errands.begin(), letters.errands.end(), std::back_inserter(all));
  for (Errand& errand : all) Finish(std::move(errand), cancelled);
}

}  // namespace fairlead::kube
