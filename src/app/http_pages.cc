#include "app/discovery_server.h"
#include "app/inspection.h"
#include "app/rest.h"
#include "app/version.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/process_metrics.h"
#include "base/strings.h"
#include "push/push_metrics.h"

// What the HTTP listeners show.
namespace fairlead::app {

std::string VersionText() { return StrCat("fairlead ", kVersion); }

rpc::HttpResponse DiscoveryServer::ReadyPage() const {
  if (serving_) return {200, "", "text/plain; charset=utf-8"};
  const std::vector<std::string> unsynced = mesh_thread_->Unsynced();
  return {503, unsynced.empty() ? "not ready\n" : StrCat("not synced: ", Join(unsynced, ", "), "\n"),
          "text/plain; charset=utf-8"};
}

absl::Status DiscoveryServer::StartHttp() {
  const auto version = [](const rpc::HttpRequest&) {
    return rpc::HttpResponse{200, StrCat(VersionText(), "\n")};
  };
  const auto metrics = [this](const rpc::HttpRequest&) {
    metrics::UpdateProcessMetrics();
    metrics::GetGauge("istiod_uptime_seconds", "Seconds since the start.")
        .Set(push::Seconds(std::chrono::steady_clock::now() - start_));
    return rpc::HttpResponse{200, metrics::ToText(), "text/plain; version=0.0.4; charset=utf-8"};
  };
  metrics::GetGauge("pilot_info", "Version of this control plane.", {{"version", std::string(kVersion)}})
      .Set(1);
  metrics::GetGauge("istio_build", "Version of this component.",
                    {{"component", "pilot"}, {"tag", std::string(kVersion)}})
      .Set(1);
  http_.Get("/ready", [this](const rpc::HttpRequest&) { return ReadyPage(); });
  AddRestPaths(pusher_.get(), &debug_sources_, options_.environment.http_connections, &http_);
  if (options_.environment.debug_on_http) {
    AddDebugPaths(&debug_sources_, &http_);
    AddDebugPaths(&debug_sources_, &monitoring_);
  }
  monitoring_.Get("/metrics", metrics);
  monitoring_.Get("/version", version);
  if (!options_.http_addr.empty()) {
    if (absl::Status status = http_.Start(options_.http_addr); !status.ok()) return status;
  }
  if (!options_.monitoring_addr.empty()) {
    if (absl::Status status = monitoring_.Start(options_.monitoring_addr); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace fairlead::app
