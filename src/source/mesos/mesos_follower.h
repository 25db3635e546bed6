#ifndef FAIRLEAD_SOURCE_MESOS_MESOS_FOLLOWER_H_
#define FAIRLEAD_SOURCE_MESOS_MESOS_FOLLOWER_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fetch/client.h"
#include "source/mesos/mesos_options.h"
#include "source/mesos/mesos_state.h"
#include "source/mesos/mesos_stream.h"
#include "source/platform/leading_server.h"
#include "source/platform/platform_source.h"
#include "source/platform/retry_pause.h"

namespace fairlead::source {

// Follows the tasks of all frameworks by the operator API of a Mesos master. One call, SUBSCRIBE, shows all
// that there is, then each change in order. A stream that ends, is silent or cannot be read is begun anew, at
// the next master; it shows all once more, so nothing is missed. A part of the view is a service, by
// "NAMESPACE/HOST". Source: github.com/apache/mesos, docs/operator-http-api.md (SUBSCRIBE, Events):
//   POST /api/v1 {"type":"SUBSCRIBE"}   records of JSON; a master that does not lead redirects by 307 to
//                                       "//LEADER:PORT/api/v1" (src/master/http.cpp), or has none: 503
class MesosFollower : public PlatformFollower {
 public:
  explicit MesosFollower(MesosOptions options);
  ~MesosFollower() override;

  void Begin(TaskLoop* loop, PlatformView* view) override;
  void End() override;
  std::vector<std::string> Awaited() const override;

 private:
  void Subscribe();
  void OnHeaders(uint64_t number, int status, const std::string& location);
  void OnDone(uint64_t number, const fetch::Outcome& outcome, const std::string& body);
  void OnNews(uint64_t number);
  absl::Status Apply(MesosEvent event);
  void Show();
  void WatchSilence();
  void LetGo();
  void Fail(const std::string& why);

  const MesosOptions options_;
  std::unique_ptr<fetch::Client> client_;
  TaskLoop* loop_ = nullptr;
  PlatformView* view_ = nullptr;
  RetryPause pause_;
  LeadingServer master_;
  MesosState state_;

  uint64_t last_number_ = 0;  // of streams
  uint64_t number_ = 0;       // of the one that is there; 0: none
  fetch::Client::Handle handle_ = 0;
  std::shared_ptr<MesosStream> stream_;
  bool shown_ = false;  // this stream has shown all that there is
  Clock::time_point shown_at_{};
  std::chrono::milliseconds silence_{0};
  TaskLoop::Timer retry_ = 0, silence_timer_ = 0;
  std::string trouble_;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_MESOS_MESOS_FOLLOWER_H_
