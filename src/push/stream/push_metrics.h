#ifndef FAIRLEAD_PUSH_STREAM_PUSH_METRICS_H_
#define FAIRLEAD_PUSH_STREAM_PUSH_METRICS_H_

#include <array>
#include <chrono>
#include <string_view>

#include "base/metrics.h"
#include "push/stream/reason.h"
#include "xds/types.h"

namespace fairlead::push {

// The metrics of serving under istiod's names (Istio: pilot/pkg/xds/monitoring.go, pkg/xds/monitoring.go), so
// that dashboards and alerts keep working. Looked up once.
struct PushMetrics {
  struct OfType {
    metrics::Counter& pushes;
    metrics::Counter& send_errors;
    metrics::Counter& rejects;
    metrics::Counter& expired_nonces;
    metrics::Histogram& push_time;
    metrics::Histogram& config_size;
  };
  std::array<OfType, xds::kTypeCount> types;
  std::array<metrics::Counter*, kReasonCount> triggers;
  metrics::Counter& inbound_config;  // changes of any kind
  metrics::Counter& inbound_endpoints;
  metrics::Counter& inbound_services;
  metrics::Counter& inbound_service_deletes;
  metrics::Counter& requests_triggered;  // pushes that answer a request
  metrics::Counter& write_timeouts;
  metrics::Counter& internal_errors;
  metrics::Histogram& debounce_time;
  metrics::Histogram& snapshot_time;
  metrics::Histogram& queue_time;
  metrics::Histogram& convergence_time;
  metrics::Histogram& send_time;
  metrics::Gauge& services;
  metrics::Gauge& virtual_services;
  metrics::Gauge& largest_request;

  OfType& Of(xds::TypeId type) { return types[static_cast<size_t>(type)]; }
};

PushMetrics& Metrics();

// Of a type that is not in the table, looked up at each call. `label`: as istiod's metrics name it.
PushMetrics::OfType MetricsOfType(std::string_view label, std::string_view url);
// The gauge of connected proxies of one Istio version; of those beyond the first 64, and of more than 64
// bytes, together.
metrics::Gauge& ConnectedProxies(std::string_view istio_version);
// Counts a rejection by type and by the node that rejects (pilot_xds_cds_reject and its like), one of the
// first 500 that do; `code` is a google.rpc.Code.
void CountReject(xds::TypeId type, std::string_view node, int code);

template <typename Duration>
double Seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_STREAM_PUSH_METRICS_H_
