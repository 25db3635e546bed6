#ifndef FAIRLEAD_BASE_PROCESS_METRICS_H_
#define FAIRLEAD_BASE_PROCESS_METRICS_H_

namespace fairlead::metrics {

// Brings the metrics of the process itself up to date (process_cpu_seconds_total and its like), under the
// names that every Prometheus client library gives them. To be called before the metrics are shown; takes
// time in proportion to the number of open files. Thread-safe.
// Source: prometheus.io/docs/instrumenting/writing_clientlibs#process-metrics
void UpdateProcessMetrics();

// UpdateProcessMetrics calls it, too, from now on: for metrics that change with the time alone. Thread-safe.
void UpdateBeforeShown(void (*update)());

}  // namespace fairlead::metrics

#endif  // FAIRLEAD_BASE_PROCESS_METRICS_H_
