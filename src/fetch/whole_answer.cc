#include "fetch/whole_answer.h"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

namespace fairlead::fetch {
namespace {

class Whole : public Observer {
 public:
  explicit Whole(std::function<void(WholeAnswer)> done) : done_(std::move(done)) {}
  void OnHeaders(int /*status*/, const Headers& headers) override { answer_.headers = headers; }
  void OnData(std::string_view bytes) override { answer_.body.append(bytes); }
  void OnDone(const Outcome& outcome) override {
    answer_.outcome = outcome;
    done_(std::move(answer_));
  }

 private:
  const std::function<void(WholeAnswer)> done_;
  WholeAnswer answer_;
};

// Where an answer is waited for.
struct Place {
  std::mutex mutex;
  std::condition_variable came;
  std::optional<WholeAnswer> answer;  // guarded by mutex

  void Put(WholeAnswer got) {
    const std::lock_guard lock(mutex);
    answer = std::move(got);
    came.notify_all();
  }
  // False: it was told to stop before.
  bool Wait(const std::atomic<bool>* stopping) {
    constexpr std::chrono::milliseconds kLook{100};
    const auto is_there = [this] { return answer.has_value(); };
    std::unique_lock lock(mutex);
    if (stopping == nullptr) {
      came.wait(lock, is_there);
      return true;
    }
    for (;;) {
      if (*stopping) return false;
      if (came.wait_for(lock, kLook, is_there)) return true;
    }
  }
};

}  // namespace

Client::Handle Ask(Client& client, Request request, std::function<void(WholeAnswer)> done) {
  return client.Start(std::move(request), std::make_unique<Whole>(std::move(done)));
}

WholeAnswer AskAndWait(Client& client, Request request, const std::atomic<bool>* stopping) {
  Place place;
  const Client::Handle handle =
      Ask(client, std::move(request), [&place](WholeAnswer answer) { place.Put(std::move(answer)); });
  if (place.Wait(stopping)) {
    client.Cancel(handle);  // waits until the call that put the answer there is over
    return *std::move(place.answer);
  }
  client.Cancel(handle);
  return {.outcome = {.status = absl::CancelledError("stopped")}};
}

}  // namespace fairlead::fetch
