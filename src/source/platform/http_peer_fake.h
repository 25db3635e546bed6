#ifndef FAIRLEAD_SOURCE_PLATFORM_HTTP_PEER_FAKE_H_
#define FAIRLEAD_SOURCE_PLATFORM_HTTP_PEER_FAKE_H_

#include <httplib.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "source/platform/platform_peer_fake.h"

namespace fairlead::source {

// For tests: a platform that speaks HTTP/1.1, on a port of this machine. What a derived class has is guarded
// by `mutex_`; its constructor ends with Serve, its destructor begins with StopServing.
class HttpPeerFake : public PlatformPeerFake {
 public:
  std::string Address() const { return StrCat("127.0.0.1:", port_); }
  // Requests whose path and query have this part.
  size_t CountRequests(std::string_view part) {
    std::lock_guard lock(mutex_);
    return static_cast<size_t>(
        std::count_if(requests_.begin(), requests_.end(),
                      [&](const std::string& request) { return request.find(part) != std::string::npos; }));
  }
  // Path and query of each, in the order of their arrival.
  std::vector<std::string> requests() {
    std::lock_guard lock(mutex_);
    return requests_;
  }
  // Of the last request.
  std::string authorization() {
    std::lock_guard lock(mutex_);
    return authorization_;
  }
  // What waits for an answer gets none.
  void SetAway(bool away) override {
    std::lock_guard lock(mutex_);
    away_ = away;
    ++epoch_;
    changed_.notify_all();
  }
  // Ends answers that go on and on.
  void EndStreams() {
    std::lock_guard lock(mutex_);
    ++epoch_;
    changed_.notify_all();
  }

 protected:
  using Lock = std::unique_lock<std::mutex>;

  // `answer`: of each request, with the lock.
  void Serve(
      std::function<void(const httplib::Request& request, httplib::Response& response, Lock& lock)> answer) {
    constexpr size_t kThreads = 64;
    server_.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };  // NOLINT: the library's
    server_.set_keep_alive_max_count(100'000);
    const auto handle = [this, answer = std::move(answer)](const httplib::Request& request,
                                                           httplib::Response& response) {
      Lock lock(mutex_);
      requests_.push_back(request.target);
      authorization_ = request.get_header_value("Authorization");
      answer(request, response, lock);
    };
    server_.Get(".*", handle);
    server_.Post(".*", handle);
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  void StopServing() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    server_.stop();
    thread_.join();
  }

  // An answer that goes on and on: `first`, then what is said on streams from now on, or `idle` where that is
  // nothing for a while. With the lock.
  void Stream(httplib::Response& response, const char* type, std::string first, std::string idle) {
    ++streams_;
    response.set_chunked_content_provider(
        type, [this, first = std::move(first), idle = std::move(idle), epoch = epoch_, next = said_.size()](
                  size_t /*offset*/, httplib::DataSink& sink) mutable {
          std::string bytes = std::exchange(first, "");
          {
            Lock lock(mutex_);
            if (bytes.empty())
              changed_.wait_for(lock, std::chrono::milliseconds(100),
                                [&] { return stopping_ || epoch != epoch_ || next < said_.size(); });
            if (stopping_ || epoch != epoch_) return false;
            while (next < said_.size()) bytes += said_[next++];
          }
          if (bytes.empty()) bytes = idle;
          return bytes.empty() || sink.write(bytes.data(), bytes.size());
        });
  }
  void SayOnStreams(std::string bytes) {
    said_.push_back(std::move(bytes));
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t epoch_ = 0;  // rises where what waits is to end
  bool stopping_ = false, away_ = false;
  std::vector<std::string> said_;  // on streams, from the first one on
  size_t streams_ = 0;             // so far

 private:
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
  std::vector<std::string> requests_;
  std::string authorization_;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_PLATFORM_HTTP_PEER_FAKE_H_
