#ifndef FAIRLEAD_SOURCE_PLATFORM_STREAM_FOLLOWER_H_
#define FAIRLEAD_SOURCE_PLATFORM_STREAM_FOLLOWER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "fetch/client.h"
#include "source/platform/leading_server.h"
#include "source/platform/platform_source.h"
#include "source/platform/retry_pause.h"

namespace fairlead::source {

// Follows a platform by one answer that goes on and on, of the server that leads. A stream that ends or
// cannot be read is begun anew, at the next server of the URL.
class StreamFollower : public PlatformFollower {
 public:
  void Begin(TaskLoop* loop, PlatformView* view) override;
  void End() override;
  std::vector<std::string> Awaited() const override;

 protected:
  // Takes bytes of the stream; true: OnNews is to be called. On the client's thread.
  using Reader = std::function<bool(std::string_view bytes)>;
  // Whoever implements it must call End when it goes.
  StreamFollower(const LeadingServer::Options& servers, std::string path, RetryPause pause);

  // The rest of the stream's request: its method, headers and limits.
  virtual void Complete(fetch::Request* request) = 0;
  // Of the stream that begins.
  virtual Reader MakeReader() = 0;
  virtual void OnNews() = 0;
  // The server that leads answers.
  virtual void OnAttached() {}
  // The stream has ended, or is to begin: what was planned for an earlier one is to be dropped.
  virtual void OnLetGo() = 0;

  // Begins anew, after a pause.
  void Fail(const std::string& why);
  // The stream says what it should. A failure long after that is the first in a row.
  void NoteGood();
  bool is_good() const { return good_; }

  std::unique_ptr<fetch::Client> client_;
  TaskLoop* loop_ = nullptr;
  PlatformView* view_ = nullptr;
  LeadingServer server_;
  std::string trouble_;  // why the view is not complete

 private:
  void Attach();
  void LetGo();
  void OnHeaders(uint64_t number, int status, const std::string& location);
  void OnDone(uint64_t number, const fetch::Outcome& outcome, const std::string& body);

  const std::string name_, path_;
  RetryPause pause_;
  uint64_t last_number_ = 0;  // of streams
  uint64_t number_ = 0;       // of the one that is there; 0: none
  fetch::Client::Handle handle_ = 0;
  bool good_ = false;
  Clock::time_point good_since_{};
  TaskLoop::Timer retry_ = 0;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_PLATFORM_STREAM_FOLLOWER_H_
