#ifndef FAIRLEAD_SOURCE_PLATFORM_SOURCE_METRICS_H_
#define FAIRLEAD_SOURCE_PLATFORM_SOURCE_METRICS_H_

#include <cstdint>
#include <string>

#include "source/platform/platform_view.h"

namespace fairlead::metrics {
class Counter;
class Gauge;
}  // namespace fairlead::metrics

namespace fairlead::source {

// pilot_source_*{source} of one source. One thread at a time.
class SourceMetrics {
 public:
  explicit SourceMetrics(const std::string& source);
  // Sets them as the view is now.
  void Update(const PlatformView& view);

 private:
  metrics::Gauge& lag_;
  metrics::Counter& errors_;
  metrics::Gauge& objects_;
  metrics::Gauge& success_;
  metrics::Gauge& synced_;
  uint64_t told_errors_ = 0, told_answers_ = 0;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_PLATFORM_SOURCE_METRICS_H_
