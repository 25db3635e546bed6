#include "serving/http_pages.h"

#include <utility>

#include "base/metrics.h"
#include "base/process_metrics.h"
#include "base/strings.h"

namespace fairlead::serving {

namespace {

// What there is, for people who try the address.
void AddIndex(std::string text, server::HttpServer* server) {
  server->Get("/", [text = std::move(text)](const server::HttpRequest&) {
    return server::HttpResponse{200, text};
  });
}

}  // namespace

void AddReadyPage(std::function<std::optional<std::vector<std::string>>()> unsynced,
                  server::HttpServer* server) {
  AddIndex(
      "/ready    whether the mesh is served\n/debug/   what this process knows, for clients on this machine\n"
      "/v3/      xDS over REST, for proxies\n",
      server);
  server->Probe(
      "/ready", [unsynced = std::move(unsynced)](const server::HttpRequest&) -> server::HttpResponse {
        const auto names = unsynced();
        if (!names) return {200, ""};
        return {503, names->empty() ? "not ready\n" : StrCat("not synced: ", Join(*names, ", "), "\n")};
      });
}

void AddMonitoringPages(const std::string& program, const std::string& version,
                        std::chrono::steady_clock::time_point start, std::function<void()> update,
                        server::HttpServer* server) {
  metrics::GetGauge("pilot_info", "Version of this control plane.", {{"version", version}}).Set(1);
  metrics::GetGauge("istio_build", "Version of this component.", {{"component", "pilot"}, {"tag", version}})
      .Set(1);
  AddIndex(
      "/metrics  for Prometheus\n/version  of this program\n"
      "/debug/   what this process knows, for clients on this machine\n",
      server);
  server->Get("/metrics", [start, update = std::move(update)](const server::HttpRequest&) {
    metrics::UpdateProcessMetrics();
    update();
    const std::chrono::duration<double> up = std::chrono::steady_clock::now() - start;
    metrics::GetGauge("istiod_uptime_seconds", "Seconds since the start.").Set(up.count());
    return server::HttpResponse{200, metrics::ToText(), "text/plain; version=0.0.4; charset=utf-8"};
  });
  server->Get("/version", [text = StrCat(version, "-", program, "-Clean")](const server::HttpRequest&) {
    return server::HttpResponse{200, text};
  });
}

}  // namespace fairlead::serving
