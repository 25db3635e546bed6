#ifndef FAIRLEAD_FETCH_OBSERVER_FAKE_H_
#define FAIRLEAD_FETCH_OBSERVER_FAKE_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "fetch/client.h"

// For tests.
namespace fairlead::fetch {

// Keeps what it is told, for any thread to look at.
class ObserverFake : public Observer {
 public:
  void OnHeaders(int status, const Headers& headers) override {
    Note([&] {
      ++headers_calls_;
      status_ = status;
      headers_ = headers;
    });
  }
  void OnData(std::string_view bytes) override {
    Note([&] { data_.append(bytes); });
    if (on_data) on_data();
  }
  void OnDone(const Outcome& outcome) override {
    Note([&] {
      ++done_calls_;
      outcome_ = outcome;
    });
    if (on_done) on_done();
  }

  // Called within the callback of that name; set them before the start.
  std::function<void()> on_data, on_done;

  int status() const { return Look(status_); }
  int headers_calls() const { return Look(headers_calls_); }
  int done_calls() const { return Look(done_calls_); }
  Headers headers() const { return Look(headers_); }
  std::string data() const { return Look(data_); }
  std::optional<Outcome> outcome() const { return Look(outcome_); }
  int calls() const { return Look(calls_); }

  // Whether it comes true within 20 s.
  bool Until(const std::function<bool(const ObserverFake&)>& true_now) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!true_now(*this)) {
      std::unique_lock lock(mutex_);
      if (std::chrono::steady_clock::now() > end) return false;
      called_.wait_for(lock, std::chrono::milliseconds(5));
    }
    return true;
  }
  Outcome Done() const {
    Until([](const ObserverFake& self) { return self.outcome().has_value(); });
    return outcome().value_or(Outcome{.status = absl::UnknownError("it does not end")});
  }

 private:
  template <class Change>
  void Note(Change&& change) {
    const std::lock_guard lock(mutex_);
    ++calls_;
    change();
    called_.notify_all();
  }
  template <class Value>
  Value Look(const Value& value) const {
    const std::lock_guard lock(mutex_);
    return value;
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable called_;
  int status_ = 0, headers_calls_ = 0, done_calls_ = 0, calls_ = 0;
  Headers headers_;
  std::string data_;
  std::optional<Outcome> outcome_;
};

}  // namespace fairlead::fetch

#endif  // FAIRLEAD_FETCH_OBSERVER_FAKE_H_
