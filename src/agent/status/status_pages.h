#ifndef FAIRLEAD_AGENT_STATUS_STATUS_PAGES_H_
#define FAIRLEAD_AGENT_STATUS_STATUS_PAGES_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/options.h"
#include "agent/status/app_probes.h"
#include "agent/status/merged_metrics.h"
#include "server/http_server.h"

namespace fairlead::agent {

// The application's address, and an own one that redirection to Envoy leaves alone.
ProbeWay WayToApplication(const Options& options);

// The pages of the agent's port besides its own readiness: the application's probes (/app-health,
// /app-lifecycle), metrics (/stats/prometheus, /metrics), and from this machine alone POST /quitquitquit and
// /drain. Thread-safe.
class StatusPages {
 public:
  // What a page asks of the agent; both return at once.
  struct Lifecycle {
    std::function<void()> quit;
    std::function<absl::Status()> drain;
  };
  // InvalidArgument names the variable that cannot be read.
  static absl::StatusOr<std::shared_ptr<StatusPages>> Make(const Options& options, Lifecycle lifecycle,
                                                           Scrape scrape = ScrapeLoopback);
  static void AddTo(server::HttpServer* server, const std::shared_ptr<StatusPages>& pages);

 private:
  StatusPages(const Options& options, Lifecycle lifecycle, std::map<std::string, AppProbe> probes,
              MergedMetrics metrics);
  server::HttpResponse Probe(const server::HttpRequest& request) const;
  server::HttpResponse Metrics(const server::HttpRequest& request) const;
  server::HttpResponse Quit(const server::HttpRequest& request) const;
  server::HttpResponse Drain(const server::HttpRequest& request) const;

  const std::map<std::string, AppProbe> probes_;
  ProbeWay way_;
  const MergedMetrics metrics_;
  const bool metrics_for_localhost_;
  const Lifecycle lifecycle_;
};

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_STATUS_STATUS_PAGES_H_
