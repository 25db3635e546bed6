#ifndef FAIRLEAD_SOURCE_MARATHON_MARATHON_FOLLOWER_H_
#define FAIRLEAD_SOURCE_MARATHON_MARATHON_FOLLOWER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "config/read/json_reader.h"
#include "fetch/client.h"
#include "fetch/whole_answer.h"
#include "source/marathon/marathon_entries.h"
#include "source/marathon/marathon_events.h"
#include "source/marathon/marathon_options.h"
#include "source/platform/stream_follower.h"

namespace fairlead::source {

// Follows the apps and pods of Marathon. The stream of events is attached first; then everything is listed,
// so that nothing between is missed; then each event says what to ask for again, as events have neither order
// nor all of the state. A stream that ends is attached anew, at the next master, with another list. A part of
// the view is an app or a pod, by its id. Source: github.com/mesosphere/marathon:
//   GET /v2/events              v2/events.raml, docs/event-bus.md; a master that does not lead redirects to
//                               the one that does (api/LeaderProxyFilter.scala)
//   GET /v2/apps, /v2/apps/{id} v2/apps.raml, types/app.raml, types/task.raml, types/readinessCheck.raml
//   GET /v2/pods::status, /v2/pods/{id}::status   v2/pods.raml, types/podStatus.raml
class MarathonFollower : public StreamFollower {
 public:
  explicit MarathonFollower(MarathonOptions options);
  ~MarathonFollower() override;

 private:
  struct Known {
    MarathonService service;
    MarathonWell well;
  };
  // A question about one app or pod.
  struct Look {
    uint64_t number = 0;  // of the exchange; 0: there is none
    fetch::Client::Handle handle = 0;
    bool again = false, pod = false, other_too = false;
    TaskLoop::Timer timer = 0;  // of the next question
    Clock::time_point asked{};
  };

  fetch::Client::Handle Ask(const std::string& path, std::function<void(const fetch::WholeAnswer&)> done);
  void Complete(fetch::Request* request) override;
  Reader MakeReader() override;
  void OnAttached() override;
  void OnNews() override;
  void OnLetGo() override;

  void List();
  void OnList(uint64_t number, bool pods, const fetch::WholeAnswer& answer);
  absl::Status ReadList(bool pods, const fetch::WholeAnswer& answer);
  void TakeList();
  void FailList(const std::string& why);

  void LookAt(const std::string& id, std::chrono::milliseconds after);
  void AskAbout(const std::string& id, Look& look);
  void OnLook(const std::string& id, uint64_t number, const fetch::WholeAnswer& answer);
  void StopLooks();
  void Put(MarathonService service);
  void Drop(const std::string& id);

  const MarathonOptions options_;
  config::JsonReader reader_;
  RetryPause list_pause_;
  std::shared_ptr<MarathonEvents> events_;  // of the stream, which is good from its beginning on
  std::chrono::milliseconds lag_{0};        // of the last events, by Marathon's clock

  uint64_t last_question_ = 0;  // of lists and looks
  uint64_t list_number_ = 0;    // 0: none is under way
  std::vector<fetch::Client::Handle> list_handles_;
  size_t list_answers_ = 0;
  bool list_again_ = false;
  std::vector<MarathonService> listed_;
  TaskLoop::Timer list_retry_ = 0;

  std::map<std::string, Known> known_;
  std::map<std::string, Look> looks_;
  std::set<std::string> waiting_;  // for their turn
  size_t looking_ = 0;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_MARATHON_MARATHON_FOLLOWER_H_
