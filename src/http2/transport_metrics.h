#ifndef FAIRLEAD_HTTP2_TRANSPORT_METRICS_H_
#define FAIRLEAD_HTTP2_TRANSPORT_METRICS_H_

#include <string>

#include "base/metrics.h"
#include "http2/counts.h"

namespace fairlead::http2 {

// The metrics fairlead_transport_* of a listener. Thread-safe.
class ListenerMetrics {
 public:
  explicit ListenerMetrics(const std::string& listener);
  // Adds what was counted since the last time, and sets it to nothing.
  void Take(Counts* counts) const;
  // A connection that was not taken: "connections", "handshakes".
  void Refused(const std::string& limit) const;

 private:
  const std::string listener_;
  metrics::Gauge& connections_;
  metrics::Gauge& streams_;
  metrics::Counter& connections_opened_;
  metrics::Counter& streams_opened_;
  metrics::Counter& bytes_received_;
  metrics::Counter& bytes_sent_;
  metrics::Counter& messages_received_;
  metrics::Counter& messages_sent_;
  metrics::Counter& handshakes_;
  metrics::Counter& resumed_;
};

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_TRANSPORT_METRICS_H_
