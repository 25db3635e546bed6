#ifndef FAIRLEAD_SOURCE_MESOS_MESOS_FOLLOWER_H_
#define FAIRLEAD_SOURCE_MESOS_MESOS_FOLLOWER_H_

#include <chrono>
#include <memory>

#include "source/mesos/mesos_options.h"
#include "source/mesos/mesos_state.h"
#include "source/mesos/mesos_stream.h"
#include "source/platform/stream_follower.h"

namespace fairlead::source {

// Follows the tasks of all frameworks by the operator API of a Mesos master. One call, SUBSCRIBE, shows all
// that there is, then each change in order. A stream that ends, is silent or cannot be read is begun anew, at
// the next master; it shows all once more, so nothing is missed. A part of the view is a service, by
// "NAMESPACE/HOST". Source: github.com/apache/mesos, docs/operator-http-api.md (SUBSCRIBE, Events):
//   POST /api/v1 {"type":"SUBSCRIBE"}   records of JSON; a master that does not lead redirects by 307 to
//                                       "//LEADER:PORT/api/v1" (src/master/http.cpp), or has none: 503
class MesosFollower : public StreamFollower {
 public:
  explicit MesosFollower(MesosOptions options);
  ~MesosFollower() override;

 private:
  void Complete(fetch::Request* request) override;
  Reader MakeReader() override;
  void OnNews() override;
  void OnLetGo() override;
  absl::Status Apply(MesosEvent event);
  void Show();
  void WatchSilence();

  const MesosOptions options_;
  MesosState state_;
  std::shared_ptr<MesosStream> stream_;  // good from SUBSCRIBED on, which shows all that there is
  std::chrono::milliseconds silence_{0};
  TaskLoop::Timer silence_timer_ = 0;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_MESOS_MESOS_FOLLOWER_H_
