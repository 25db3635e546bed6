#ifndef FAIRLEAD_SOURCE_MARATHON_MARATHON_EVENTS_H_
#define FAIRLEAD_SOURCE_MARATHON_MARATHON_EVENTS_H_

#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/read/json_reader.h"
#include "source/platform/sse_reader.h"

namespace fairlead::source {

// Types of events that say that a service may differ. Source: docs/docs/event-bus.md of
// github.com/mesosphere/marathon; core/event/Events.scala.
const std::vector<std::string>& MarathonEventTypes();

// What an event is about. The events have no order and not all that differs: they say what to ask for again.
struct MarathonEvent {
  std::set<std::string> ids;  // of apps and pods
  bool all = false;           // any of them may differ
  int64_t time = 0;           // when it happened, in Unix milliseconds by Marathon's clock; 0: not said
};
// Nothing to do for types that are not in the list. An event that cannot be read is about all. Pure.
MarathonEvent ReadMarathonEvent(config::JsonReader& reader, std::string_view type, std::string_view data);

// The events of one stream, collected until somebody takes them. Read: one thread; Take: any.
class MarathonEvents {
 public:
  MarathonEvents();
  // True where news begins: somebody is to take it.
  bool Read(std::string_view bytes);
  MarathonEvent Take();

 private:
  void Add(MarathonEvent event);

  SseReader sse_;
  config::JsonReader json_;
  bool begins_ = false;  // of who reads
  std::mutex mutex_;
  MarathonEvent news_;     // guarded by mutex_
  bool has_news_ = false;  // likewise
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_MARATHON_MARATHON_EVENTS_H_
