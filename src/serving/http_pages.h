#ifndef FAIRLEAD_SERVING_HTTP_PAGES_H_
#define FAIRLEAD_SERVING_HTTP_PAGES_H_

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "server/http_server.h"

// The pages for probes and monitoring.
namespace fairlead::serving {

// /ready: 200, or 503 with the sources that have not synced. `unsynced` gives none where the server is ready.
void AddReadyPage(std::function<std::optional<std::vector<std::string>>()> unsynced,
                  server::HttpServer* server);

// /metrics, and /version: "VERSION-PROGRAM-Clean", istiod's form, which istioctl splits. `start`: of the
// process. `update` brings metrics up to date that are found out when they are asked for.
void AddMonitoringPages(const std::string& program, const std::string& version,
                        std::chrono::steady_clock::time_point start, std::function<void()> update,
                        server::HttpServer* server);

}  // namespace fairlead::serving

#endif  // FAIRLEAD_SERVING_HTTP_PAGES_H_
