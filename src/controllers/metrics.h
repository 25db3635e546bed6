#ifndef FAIRLEAD_CONTROLLERS_METRICS_H_
#define FAIRLEAD_CONTROLLERS_METRICS_H_

#include <string>

#include "base/metrics.h"

namespace fairlead::controllers {

// What is written into an API server. They are there from the first call on, whether or not anything is.
struct WriteMetrics {
  metrics::Counter &statuses, &status_conflicts, &status_errors;
  metrics::Counter &roots, &root_errors;
  metrics::Counter &deployments, &deployment_errors;
  metrics::Counter &webhook_patches, &webhook_patch_errors;
};
WriteMetrics& Metrics();

// 1 where this replica holds the lock.
metrics::Gauge& LeaderGauge(const std::string& lock);

}  // namespace fairlead::controllers

#endif  // FAIRLEAD_CONTROLLERS_METRICS_H_
