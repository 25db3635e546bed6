#include "agent/status/status_pages.h"

#include <utility>
#include <vector>

#include "agent/status/from_here.h"
#include "base/ip_address.h"
#include "base/log.h"
#include "base/strings.h"

namespace fairlead::agent {
namespace {

using server::HttpRequest;
using server::HttpResponse;

LogScope pages_log("status");

}  // namespace

ProbeWay WayToApplication(const Options& options) {
  ProbeWay way;
  way.status_port = options.status_port;
  way.http2 = options.http2_probes;
  const bool known = IsIpAddress(options.instance_ip);
  way.host = known && !options.probe_localhost ? options.instance_ip : "localhost";
  const bool v6 = options.instance_ip.find(':') != std::string::npos;
  const std::string own = v6 ? "::6" : "127.0.0.6";
  if (known && CanBind(own)) way.local_address = own;
  return way;
}

absl::StatusOr<std::shared_ptr<StatusPages>> StatusPages::Make(const Options& options, Lifecycle lifecycle,
                                                               Scrape scrape) {
  auto probes = ParseAppProbes(options.app_probers);
  if (!probes.ok()) return probes.status();
  std::vector<ScrapeTarget> targets;
  // A gateway's port is reached from elsewhere.
  if (options.type == "sidecar") {
    auto parsed = ParseScrapeTargets(options.scrape_targets, options.status_port);
    if (!parsed.ok()) return parsed.status();
    targets = *std::move(parsed);
  }
  const int envoy = options.merge_envoy_metrics ? options.prometheus_port : 0;
  return std::shared_ptr<StatusPages>(new StatusPages(options, std::move(lifecycle), *std::move(probes),
                                                      {envoy, std::move(targets), std::move(scrape)}));
}

StatusPages::StatusPages(const Options& options, Lifecycle lifecycle, std::map<std::string, AppProbe> probes,
                         MergedMetrics metrics)
    : probes_(std::move(probes)),
      metrics_(std::move(metrics)),
      metrics_for_localhost_(options.metrics_for_localhost),
      lifecycle_(std::move(lifecycle)) {
  if (!probes_.empty()) way_ = WayToApplication(options);
}

void StatusPages::AddTo(server::HttpServer* server, const std::shared_ptr<StatusPages>& pages) {
  using Page = HttpResponse (StatusPages::*)(const HttpRequest&) const;
  const auto handler = [&pages](Page page) {
    return [pages, page](const HttpRequest& request) { return ((*pages).*page)(request); };
  };
  server->Get("/app-health/*", handler(&StatusPages::Probe));
  server->Get("/app-lifecycle/*", handler(&StatusPages::Probe));
  server->Get("/stats/prometheus", handler(&StatusPages::Metrics));
  server->Get("/metrics", handler(&StatusPages::Metrics));
  server->Post("/quitquitquit", handler(&StatusPages::Quit));
  server->Post("/drain", handler(&StatusPages::Drain));
  const auto post_only = [](const HttpRequest& request) -> HttpResponse {
    return IsFromHere(request) ? HttpResponse{.status = 405, .body = "Method Not Allowed\n"} : OnlyFromHere();
  };
  server->Get("/quitquitquit", post_only);
  server->Get("/drain", post_only);
}

HttpResponse StatusPages::Probe(const HttpRequest& request) const {
  const auto probe = probes_.find(request.path);
  if (probe == probes_.end())
    return {.status = 400, .body = StrCat("app prober config does not exists for ", request.path)};
  return RunAppProbe(probe->second, way_, request);
}

HttpResponse StatusPages::Metrics(const HttpRequest& request) const {
  if (metrics_for_localhost_ && !IsFromHere(request)) return OnlyFromHere();
  return metrics_.Page(request);
}

HttpResponse StatusPages::Quit(const HttpRequest& request) const {
  if (!IsFromHere(request)) return OnlyFromHere();
  pages_log.Info("{} was called: the agent ends", request.path);
  lifecycle_.quit();
  return {.body = "OK"};
}

HttpResponse StatusPages::Drain(const HttpRequest& request) const {
  if (!IsFromHere(request)) return OnlyFromHere();
  pages_log.Info("{} was called: Envoy drains its listeners", request.path);
  if (const absl::Status status = lifecycle_.drain(); !status.ok())
    pages_log.Warn("listeners cannot be drained: {}", std::string(status.message()));
  return {.body = "OK"};
}

}  // namespace fairlead::agent
