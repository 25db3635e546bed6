#include "http2/transport_metrics.h"

#include <utility>

namespace fairlead::http2 {
namespace {

double Number(uint64_t count) { return static_cast<double>(count); }

void Move(uint64_t* count, metrics::Counter& to) {
  if (*count > 0) to.Add(Number(std::exchange(*count, 0)));
}

void Difference(uint64_t more, uint64_t less, metrics::Gauge& gauge) {
  if (more != less) gauge.Add(Number(more) - Number(less));
}

metrics::Counter& SentAway(const std::string& listener, const std::string& reason) {
  return metrics::GetCounter("fairlead_transport_sent_away_total",
                             "Connections that the server has ended, by the reason.",
                             {{"listener", listener}, {"reason", reason}});
}

metrics::Counter& RefusedBy(const std::string& listener, const std::string& limit) {
  return metrics::GetCounter("fairlead_transport_refused_connections_total",
                             "Connections that were closed at once, by the limit that was reached.",
                             {{"listener", listener}, {"limit", limit}});
}

}  // namespace

ListenerMetrics::ListenerMetrics(const std::string& listener)
    : listener_(listener),
      connections_(metrics::GetGauge("fairlead_transport_connections", "Connections that are open.",
                                     {{"listener", listener}})),
      streams_(
          metrics::GetGauge("fairlead_transport_streams", "Calls that are open.", {{"listener", listener}})),
      connections_opened_(metrics::GetCounter("fairlead_transport_connections_total",
                                              "Connections that were accepted.", {{"listener", listener}})),
      streams_opened_(metrics::GetCounter("fairlead_transport_streams_total", "Calls that were begun.",
                                          {{"listener", listener}})),
      bytes_received_(metrics::GetCounter("fairlead_transport_received_bytes_total",
                                          "Bytes of HTTP/2 that clients have sent.",
                                          {{"listener", listener}})),
      bytes_sent_(metrics::GetCounter("fairlead_transport_sent_bytes_total",
                                      "Bytes of HTTP/2 that were sent to clients.",
                                      {{"listener", listener}})),
      messages_received_(metrics::GetCounter("fairlead_transport_received_messages_total",
                                             "gRPC messages that clients have sent.",
                                             {{"listener", listener}})),
      messages_sent_(metrics::GetCounter("fairlead_transport_sent_messages_total",
                                         "gRPC messages that were sent to clients.",
                                         {{"listener", listener}})),
      handshakes_(metrics::GetCounter("fairlead_transport_tls_handshakes_total",
                                      "TLS handshakes that succeeded, resumed ones included.",
                                      {{"listener", listener}})),
      resumed_(metrics::GetCounter("fairlead_transport_tls_resumed_total",
                                   "TLS handshakes that resumed an earlier session.",
                                   {{"listener", listener}})) {
  // They are there from the start, so that a rate sees the first one.
  SentAway(listener, "age");
  RefusedBy(listener, "connections");
}

void ListenerMetrics::Take(Counts* counts) const {
  Difference(counts->connections_opened, counts->connections_closed, connections_);
  Difference(counts->streams_opened, counts->streams_closed, streams_);
  counts->connections_closed = counts->streams_closed = 0;
  Move(&counts->connections_opened, connections_opened_);
  Move(&counts->streams_opened, streams_opened_);
  Move(&counts->bytes_received, bytes_received_);
  Move(&counts->bytes_sent, bytes_sent_);
  Move(&counts->messages_received, messages_received_);
  Move(&counts->messages_sent, messages_sent_);
  Move(&counts->handshakes, handshakes_);
  Move(&counts->resumed, resumed_);
  for (const auto& [reason, count] : std::exchange(counts->sent_away, {})) {
    SentAway(listener_, reason).Add(Number(count));
  }
}

void ListenerMetrics::Refused(const std::string& limit) const { RefusedBy(listener_, limit).Add(); }

}  // namespace fairlead::http2
