#include "source/platform/source_metrics.h"

#include <chrono>
#include <utility>

#include "base/metrics.h"

namespace fairlead::source {

SourceMetrics::SourceMetrics(const std::string& source)
    : lag_(metrics::GetGauge("pilot_source_lag_seconds",
                             "Age of the last answer of the platform, as the platform says.",
                             {{"source", source}})),
      errors_(metrics::GetCounter("pilot_source_errors_total", "Failed questions to the platform.",
                                  {{"source", source}})),
      objects_(metrics::GetGauge("pilot_source_objects", "Objects of the platform in effect.",
                                 {{"source", source}})),
      success_(metrics::GetGauge("pilot_source_last_success_timestamp_seconds",
                                 "Unix time of the platform's last answer.", {{"source", source}})),
      synced_(metrics::GetGauge("pilot_source_complete", "Whether the platform has shown all of its objects.",
                                {{"source", source}})) {}

void SourceMetrics::Update(const PlatformView& view) {
  using Seconds = std::chrono::duration<double>;
  lag_.Set(Seconds(view.lag()).count());
  errors_.Add(static_cast<double>(view.errors() - std::exchange(told_errors_, view.errors())));
  objects_.Set(static_cast<double>(view.objects()));
  synced_.Set(view.complete() ? 1 : 0);
  if (view.answers() == std::exchange(told_answers_, view.answers())) return;
  success_.Set(Seconds(std::chrono::system_clock::now().time_since_epoch()).count());
}

}  // namespace fairlead::source
