#include "jwks/downloads.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/strings.h"

namespace fairlead::jwks {
namespace {

using std::chrono::milliseconds;

milliseconds AtLeastOne(Clock::duration duration) {
  return std::max(milliseconds(1), std::chrono::duration_cast<milliseconds>(duration));
}

}  // namespace

Downloads::~Downloads() {
  for (const auto& [number, running] : running_) fetch::Client::Shared().Cancel(running.handle);
}

void Downloads::Get(std::string url, Clock::duration timeout, Done done) {
  waiting_.push_back({std::move(url), timeout, std::move(done)});
}

fetch::Request Downloads::RequestOf(const Waiting& download) const {
  fetch::Request request{.url = download.url,
                         .tls = {.more_roots_file = options_.extra_roots, .unverified = options_.insecure}};
  request.connect_limit = request.whole_limit = AtLeastOne(download.timeout);
  request.most_bytes = options_.max_bytes;
  request.most_redirects = options_.max_redirects;
  request.own_connection = true;
  request.plaintext = true;
  request.blocked = &options_.blocked;
  return request;
}

absl::StatusOr<std::string> Downloads::OutcomeOf(fetch::WholeAnswer answer) const {
  if (!answer.outcome.status.ok()) return answer.outcome.status;
  const int status = answer.outcome.http_status;
  if (status < 200 || status > 299) return absl::UnavailableError(StrCat("the answer is status ", status));
  return std::move(answer.body);
}

void Downloads::StartNext() {
  while (!waiting_.empty() && running_.size() < options_.at_a_time) {
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    const Number number = ++last_;
    const fetch::Client::Handle handle =
        fetch::Ask(fetch::Client::Shared(), RequestOf(next),
                   [this, number](fetch::WholeAnswer answer) { Ended(number, std::move(answer)); });
    running_.emplace(number, Running{handle, std::move(next.done)});
  }
}

// On the client's thread.
void Downloads::Ended(Number number, fetch::WholeAnswer answer) {
  const std::lock_guard lock(mutex_);
  answers_.emplace(number, std::move(answer));
  woken_.notify_all();
}

void Downloads::Wait(Clock::duration at_most) {
  StartNext();
  std::map<Number, fetch::WholeAnswer> answers;
  {
    std::unique_lock lock(mutex_);
    woken_.wait_for(lock, at_most, [this] { return wake_ || !answers_.empty(); });
    wake_ = false;
    answers = std::exchange(answers_, {});
  }
  for (auto& [number, answer] : answers) {
    const auto found = running_.find(number);
    const Running running = std::move(found->second);
    running_.erase(found);
    fetch::Client::Shared().Cancel(running.handle);  // waits for the end of the call that brought it
    running.done(OutcomeOf(std::move(answer)));
  }
}

void Downloads::Wake() {
  const std::lock_guard lock(mutex_);
  wake_ = true;
  woken_.notify_all();
}

}  // namespace fairlead::jwks
