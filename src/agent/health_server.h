#ifndef FAIRLEAD_AGENT_HEALTH_SERVER_H_
#define FAIRLEAD_AGENT_HEALTH_SERVER_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "agent/readiness.h"
#include "base/clock.h"
#include "server/http_server.h"

namespace fairlead::agent {

// Whether Envoy serves, for probes of orchestrators and load balancers: `/healthz/ready` is 200, or 503 with
// the reason. Thread-safe. Source: pilot-agent with its port 15020, and Istio's bootstrap with its listener
// 15021, which asks that port.
class HealthServer {
 public:
  enum Phase { kDoesNotRun, kRuns, kStops };
  HealthServer(Readiness::Get get, std::string discovery, Readiness::Reasons reasons);
  // Of a workload without Envoy: an error of `check` is the reason.
  explicit HealthServer(std::function<absl::Status()> check);
  ~HealthServer();  // as Stop()
  // Answers on this port of all addresses, 0: none, also with the pages that `add` adds. A port that is taken
  // causes a warning.
  void Serve(int port, const std::function<void(server::HttpServer*)>& add);
  void Stop();
  // One more condition besides Envoy's; thread-safe itself. Before Serve.
  void Require(std::function<absl::Status()> condition) { condition_ = std::move(condition); }
  void Set(Phase phase) { phase_ = phase; }
  // OK where Envoy is live and has its configuration; else why not. A result counts for 100 ms.
  absl::Status Check();

 private:
  absl::Status Ask();

  const Readiness::Get get_;
  const std::string discovery_;
  const Readiness::Reasons reasons_;
  const std::function<absl::Status()> check_;  // empty: Envoy is asked
  std::function<absl::Status()> condition_;    // empty: none
  std::atomic<Phase> phase_{kDoesNotRun};
  std::unique_ptr<server::HttpServer> server_;  // null: none
  std::mutex mutex_;
  Phase asked_in_ = kDoesNotRun;  // guarded by mutex_
  Clock::time_point asked_;       // guarded by mutex_
  absl::Status found_;            // guarded by mutex_
};

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_HEALTH_SERVER_H_
