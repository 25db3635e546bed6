#include "push/stream/push_metrics.h"

#include <iterator>
#include <string>
#include <utility>

#include "base/label_values.h"
#include "base/strings.h"

namespace fairlead::push {
namespace {

using metrics::GetCounter;
using metrics::GetGauge;
using metrics::GetHistogram;

PushMetrics::OfType MakeType(const std::string& label, std::string_view url) {
  return {
      .pushes =
          GetCounter("pilot_xds_pushes", "Pushes by type, and errors of sending them.", {{"type", label}}),
      .send_errors = GetCounter("pilot_xds_pushes", "Pushes by type, and errors of sending them.",
                                {{"type", label + "_senderr"}}),
      .rejects = GetCounter("pilot_total_xds_rejects", "Responses that proxies rejected.", {{"type", label}}),
      .expired_nonces =
          GetCounter("pilot_xds_expired_nonce", "Requests that answer a response which is not the last.",
                     {{"type", label}}),
      .push_time = GetHistogram("pilot_xds_push_time", "Seconds to make a push of a type.",
                                {.01, .1, .5, 1, 3, 5, 10, 20, 30}, {{"type", label}}),
      .config_size =
          GetHistogram("pilot_xds_config_size_bytes", "Sizes of the responses sent to proxies.",
                       {1, 10000, 1000000, 4000000, 10000000, 40000000}, {{"type", std::string(url)}}),
  };
}

template <size_t... I>
std::array<PushMetrics::OfType, xds::kTypeCount> MakeTypes(std::index_sequence<I...>) {
  return {MakeType(std::string(xds::kTypes[I].metric), xds::kTypes[I].url)...};
}

metrics::Counter& Trigger(std::string_view name) {
  return GetCounter("pilot_push_triggers", "Pushes to proxies by what triggered them.",
                    {{"type", std::string(name)}});
}

// A status code's name as gRPC in Go, and so istiod, has it.
std::string CodeName(int code) {
  static constexpr std::string_view kNames[] = {
      "OK",       "Canceled",       "Unknown",          "InvalidArgument",   "DeadlineExceeded",
      "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
      "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
      "DataLoss", "Unauthenticated"};
  if (code < 0 || code >= static_cast<int>(std::size(kNames))) return std::string(metrics::kOtherValues);
  return std::string(kNames[code]);
}

metrics::Counter& Inbound(std::string_view type) {
  return GetCounter("pilot_inbound_updates", "Changes received.", {{"type", std::string(type)}});
}

std::array<metrics::Counter*, kReasonCount> MakeTriggers() {
  std::array<metrics::Counter*, kReasonCount> triggers;
  for (size_t i = 0; i < kReasonCount; ++i) triggers[i] = &Trigger(NameOf(static_cast<Reason>(i)));
  return triggers;
}

}  // namespace

PushMetrics& Metrics() {
  static auto* metrics = new PushMetrics{
      .types = MakeTypes(std::make_index_sequence<xds::kTypeCount>()),
      .triggers = MakeTriggers(),
      .inbound_config = Inbound("config"),
      .inbound_endpoints = Inbound("eds"),
      .inbound_services = Inbound("svc"),
      .inbound_service_deletes = Inbound("svcdelete"),
      .requests_triggered = Trigger("proxyrequest"),
      .write_timeouts =
          GetCounter("pilot_xds_write_timeout", "Streams cut because their proxy did not read."),
      .internal_errors = GetCounter("pilot_total_xds_internal_errors", "Internal errors while serving."),
      .debounce_time =
          GetHistogram("pilot_debounce_time", "Seconds from a burst's first change to its publication.",
                       {.01, .1, .5, 1, 3, 5, 10, 20, 30}),
      .snapshot_time = GetHistogram("pilot_pushcontext_init_seconds", "Seconds to build a snapshot.",
                                    {.01, .1, .5, 1, 3, 5}),
      .queue_time = GetHistogram("pilot_proxy_queue_time", "Seconds that a proxy's push waited for a thread.",
                                 {.1, .5, 1, 3, 5, 10, 20, 30}),
      .convergence_time =
          GetHistogram("pilot_proxy_convergence_time",
                       "Seconds from a change to the time when a proxy has been sent all of it.",
                       {.1, .5, 1, 3, 5, 10, 20, 30}),
      .send_time =
          GetHistogram("pilot_xds_send_time", "Seconds to send a response.", {.01, .1, 1, 3, 5, 10, 20, 30}),
      .services = GetGauge("pilot_services", "Services known."),
      .virtual_services = GetGauge("pilot_virt_services", "VirtualServices known."),
      .largest_request = GetGauge("pilot_xds_recv_max", "Size of the largest request so far."),
  };
  return *metrics;
}

PushMetrics::OfType MetricsOfType(std::string_view label, std::string_view url) {
  return MakeType(std::string(label), url);
}

metrics::Gauge& ConnectedProxies(std::string_view istio_version) {
  static auto* versions = new metrics::LabelValues(64, 64);
  return GetGauge("pilot_xds", "Proxies connected.", {{"version", versions->Of(istio_version)}});
}

void CountReject(xds::TypeId type, std::string_view node, int code) {
  Metrics().Of(type).rejects.Add();
  if (type > xds::TypeId::kRoute) return;
  static auto* nodes = new metrics::LabelValues(500, 256);
  GetGauge(StrCat("pilot_xds_", xds::InfoOf(type).metric, "_reject"), "Rejections by proxy.",
           {{"node", nodes->Of(node)}, {"err", CodeName(code)}})
      .Add(1);
}

}  // namespace fairlead::push
