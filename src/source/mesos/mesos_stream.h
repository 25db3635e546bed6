#ifndef FAIRLEAD_SOURCE_MESOS_MESOS_STREAM_H_
#define FAIRLEAD_SOURCE_MESOS_MESOS_STREAM_H_

#include <cstddef>
#include <mutex>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/clock.h"
#include "config/read/json_reader.h"
#include "source/mesos/mesos_events.h"
#include "source/mesos/record_reader.h"

namespace fairlead::source {

// The events of one stream, collected until somebody takes them. Read: one thread; the others: any.
class MesosStream {
 public:
  struct News {
    std::vector<MesosEvent> events;  // in their order; those of no use are left out
    absl::Status broken;             // not OK: the stream cannot be followed on, and why
  };

  // `most_record`: bytes.
  explicit MesosStream(size_t most_record);
  // True where news begins, heartbeats included: somebody is to take it.
  bool Read(std::string_view bytes);
  News Take();
  // When the last byte came; at first, when it was made.
  Clock::time_point last_byte() const;

 private:
  bool Add(std::string_view record);
  void Begin();

  RecordReader records_;
  config::JsonReader json_;
  bool begins_ = false;       // of who reads
  mutable std::mutex mutex_;  // guards what follows
  News news_;
  bool has_news_ = false, broken_ = false;
  Clock::time_point last_byte_ = Clock::now();
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_MESOS_MESOS_STREAM_H_
