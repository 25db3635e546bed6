#include "gen/telemetry/access_log.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "envoy/config/accesslog/v3/accesslog.pb.h"
#include "envoy/extensions/access_loggers/filters/cel/v3/cel.pb.h"
#include "gen/telemetry/access_log_plan.h"
#include "gen/telemetry/tracing_plan.h"
#include "gen/telemetry/traits.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "proto/messages.h"

namespace fairlead::gen::telemetry {
namespace {

using envoy::config::accesslog::v3::AccessLog;
using envoy::config::accesslog::v3::AccessLogFilter;

// "No route": what reaches a listener and none of its filter chains is in no other log.
void SetUnmatchedFilter(AccessLogFilter* out) { out->mutable_response_flag_filter()->add_flags("NR"); }

void SetCelFilter(const std::string& expression, AccessLogFilter* out) {
  envoy::extensions::access_loggers::filters::cel::v3::ExpressionFilter filter;
  filter.set_expression(expression);
  out->mutable_extension_filter()->set_name("envoy.access_loggers.extension_filters.cel");
  proto::Pack(filter, out->mutable_extension_filter()->mutable_typed_config());
}

void SetFilters(LogPlace place, const ProviderLogging& logging, AccessLog* log) {
  const bool unmatched = place == LogPlace::kListener;
  if (unmatched && logging.has_filter) {
    auto* both = log->mutable_filter()->mutable_and_filter();
    SetUnmatchedFilter(both->add_filters());
    SetCelFilter(logging.filter, both->add_filters());
  } else if (unmatched) {
    SetUnmatchedFilter(log->mutable_filter());
  } else if (logging.has_filter) {
    SetCelFilter(logging.filter, log->mutable_filter());
  }
}

// As it was before there was a Telemetry API.
void AddMeshLogs(const istio::mesh::v1alpha1::MeshConfig& mesh, LogPlace place, AccessLogs* out) {
  const int before = out->size();
  if (!mesh.access_log_file().empty()) SetMeshFileLog(mesh, mesh.access_log_file(), out->Add());
  if (mesh.enable_envoy_access_log_service()) {
    switch (place) {
      case LogPlace::kHttp:
        SetMeshServiceLog(true, "http_envoy_accesslog", out->Add());
        break;
      case LogPlace::kTcp:
        SetMeshServiceLog(false, "tcp_envoy_accesslog", out->Add());
        break;
      case LogPlace::kListener:
        SetMeshServiceLog(false, "listener_envoy_accesslog", out->Add());
        break;
    }
  }
  if (place != LogPlace::kListener) return;
  for (int i = before; i < out->size(); ++i) SetUnmatchedFilter(out->Mutable(i)->mutable_filter());
}

}  // namespace

void AddAccessLogs(const Traits& traits, TrafficClass traffic, LogPlace place, AccessLogs* out) {
  const auto& mesh = *traits.settings->mesh;
  if (place == LogPlace::kListener && mesh.disable_envoy_listener_log()) return;
  const auto plan = PlanAccessLogs(traits, traffic);
  // Providers without logs (Prometheus, …) count as nothing said.
  bool any = false;
  std::vector<std::pair<std::string, AccessLog>> planned;
  if (plan) {
    for (const auto& [name, logging] : *plan) {
      const ExtensionProvider* provider = FindProvider(mesh, name);
      AccessLog log;
      if (provider == nullptr || !SetProviderLog(traits, *provider, &log)) continue;
      any = true;
      if (logging.disabled) continue;
      SetFilters(place, logging, &log);
      planned.emplace_back(provider->name(), std::move(log));
    }
  }
  if (!any) return AddMeshLogs(mesh, place, out);
  // In the order of the providers' names; Telemetry may spell them in another case.
  std::stable_sort(planned.begin(), planned.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [name, log] : planned) *out->Add() = std::move(log);
}

}  // namespace fairlead::gen::telemetry
