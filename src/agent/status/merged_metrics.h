#ifndef FAIRLEAD_AGENT_STATUS_MERGED_METRICS_H_
#define FAIRLEAD_AGENT_STATUS_MERGED_METRICS_H_

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "server/http_server.h"

namespace fairlead::agent {

// A page of the application's metrics, on loopback.
struct ScrapeTarget {
  int port = 0;
  std::string path = "/metrics";
};

// ISTIO_PROMETHEUS_ANNOTATIONS: {"scrape", "path", "port", "targets": [{"port", "path"}]} of the pod's
// annotations, texts all. Nothing where scrape is "false". InvalidArgument for ports that are none, or of the
// mesh's own: those would be asked in a circle, or counted twice. Pure.
// Source: pilot-agent's status server.
absl::StatusOr<std::vector<ScrapeTarget>> ParseScrapeTargets(std::string_view text, int status_port);

// A page that was asked for.
struct ScrapedPage {
  std::string body, content_type;
};
using Scrape = std::function<absl::StatusOr<ScrapedPage>(
    const std::string& url, const std::vector<std::string>& headers, std::chrono::milliseconds limit)>;

// Over HTTP on loopback; pages of more than 64 MiB are an error.
absl::StatusOr<ScrapedPage> ScrapeLoopback(const std::string& url, const std::vector<std::string>& headers,
                                           std::chrono::milliseconds limit);

// The types of `accepted` that are wanted in an Accept header, in their order, and with falling quality;
// Prometheus' text where none is. Pure.
std::string NarrowAccept(std::string_view accept, const std::vector<std::string_view>& accepted);

// The agent's metrics, Envoy's and the application's, one behind the other, as a page for Prometheus. What
// fails is left out, counted and logged. The form is the application's, OpenMetrics or text; text where its
// pages differ. Thread-safe.
class MergedMetrics {
 public:
  // `envoy_port`: Envoy's page; 0: none.
  MergedMetrics(int envoy_port, std::vector<ScrapeTarget> targets, Scrape scrape);
  server::HttpResponse Page(const server::HttpRequest& request) const;

 private:
  void AddEnvoy(const server::HttpRequest& request, Clock::time_point end, std::string* text) const;
  // Gives the content type of the page.
  std::string AddApplication(const server::HttpRequest& request, Clock::time_point end,
                             std::string* text) const;

  const int envoy_port_;
  const std::vector<ScrapeTarget> targets_;
  const Scrape scrape_;
};

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_STATUS_MERGED_METRICS_H_
