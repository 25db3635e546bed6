#ifndef FAIRLEAD_SOURCE_PLATFORM_STREAMED_ANSWER_H_
#define FAIRLEAD_SOURCE_PLATFORM_STREAMED_ANSWER_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "fetch/client.h"
#include "source/platform/task_loop.h"

namespace fairlead::source {

// An answer that goes on and on, of which a follower hears: its status at first, and how it ended. What it
// says is read on the client's thread by `read`. Source: fetch/client.h.
class StreamedAnswer : public fetch::Observer {
 public:
  struct Told {
    // Of the source's thread; not called once the exchange was cancelled there and `number` has moved on.
    std::function<void(int status, std::string location)> headers;
    std::function<void(fetch::Outcome outcome, std::string body)> done;
    // Of the client's thread; only with status 200.
    std::function<void(std::string_view bytes)> read;
  };
  StreamedAnswer(TaskLoop* loop, Told told)
      : loop_(loop), told_(std::make_shared<const Told>(std::move(told))) {}

  void OnHeaders(int status, const fetch::Headers& headers) override {
    good_ = status == 200;
    std::string location;
    for (const auto& [name, value] : headers) {
      if (name == "location") location = value;
    }
    loop_->Post([told = told_, status, location] { told->headers(status, location); });
  }
  void OnData(std::string_view bytes) override {
    constexpr size_t kMostQuoted = 1'024;
    if (good_) return told_->read(bytes);
    if (body_.size() < kMostQuoted) body_.append(bytes.substr(0, kMostQuoted - body_.size()));
  }
  void OnDone(const fetch::Outcome& outcome) override {
    loop_->Post([told = told_, outcome, body = body_] { told->done(outcome, body); });
  }

 private:
  TaskLoop* const loop_;
  const std::shared_ptr<const Told> told_;
  bool good_ = false;
  std::string body_;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_PLATFORM_STREAMED_ANSWER_H_
