#ifndef FAIRLEAD_AGENT_HEALTH_H_
#define FAIRLEAD_AGENT_HEALTH_H_

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/readiness.h"
#include "base/clock.h"
#include "rpc/http_server.h"

namespace fairlead::agent {

// Whether Envoy serves, for probes of orchestrators and load balancers: `/healthz/ready` is 200, or 503 with
// the reason. Thread-safe. Source: pilot-agent with its port 15020, and Istio's bootstrap with its listener
// 15021, which asks that port. Here the agent answers on both, so that an Envoy without listeners is reported
// as well.
class Health {
 public:
  enum Phase { kDoesNotRun, kRuns, kStops };
  explicit Health(Readiness::Get get, std::string discovery, Readiness::Reasons reasons);
  ~Health();  // as Stop()
  // Answers on these ports of all addresses, 0: none. A port that is taken causes a warning.
  void Serve(const std::vector<int>& ports);
  void Stop();
  void Set(Phase phase) { phase_ = phase; }
  // OK where Envoy is live and has its configuration; else why not. A result counts for 100 ms.
  absl::Status Check();

 private:
  absl::Status Ask();

  const Readiness::Get get_;
  const std::string discovery_;
  const Readiness::Reasons reasons_;
  std::atomic<Phase> phase_{kDoesNotRun};
  std::vector<std::unique_ptr<rpc::HttpServer>> servers_;
  std::mutex mutex_;
  Phase asked_in_ = kDoesNotRun;  // guarded by mutex_
  Clock::time_point asked_;       // guarded by mutex_
  absl::Status found_;            // guarded by mutex_
};

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_HEALTH_H_
