#ifndef FAIRLEAD_AGENT_WORKLOAD_HEALTH_H_
#define FAIRLEAD_AGENT_WORKLOAD_HEALTH_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/status/app_probes.h"
#include "nlohmann/json.hpp"

namespace fairlead::agent {

// The probe of a WorkloadGroup (istio.networking.v1.ReadinessProbe), which the ProxyConfig brings to a
// machine.
struct WorkloadProbe {
  AppProbe probe;                              // but for `command`
  std::vector<std::string> command;            // of exec; empty: another kind
  std::string host;                            // "": the workload's address
  std::map<std::string, std::string> headers;  // of HTTP
  std::chrono::milliseconds initial_delay{0}, period{10'000};
  int success_threshold = 1, failure_threshold = 1;
};

// Of a ProxyConfig as JSON; nothing where it has no probe. InvalidArgument names the field. Pure.
absl::StatusOr<std::optional<WorkloadProbe>> ReadWorkloadProbe(const nlohmann::json& proxy_config);

// One try, for the probe's timeout at most; an error says why the workload is not healthy. Blocks.
// `stopping` ends a program soon after it is true.
absl::Status TryWorkload(const WorkloadProbe& probe, const ProbeWay& way, const std::atomic<bool>& stopping);

// What is to be told after a series of tries: a change, once its threshold is reached. Pure.
class HealthThresholds {
 public:
  HealthThresholds(int success, int failure) : success_(success), failure_(failure) {}
  // The news after another try; nothing: none.
  std::optional<absl::Status> Add(const absl::Status& result);

 private:
  const int success_, failure_;
  int good_ = 0, bad_ = 0;  // in a row
  std::optional<bool> told_;
};

// Probes the workload on a thread of its own, and tells each change. Envoy must be ready, too.
// Source: pilot-agent, pkg/istio-agent/health.
class WorkloadHealth {
 public:
  using Check = std::function<absl::Status()>;
  using Report = std::function<void(const absl::Status&)>;
  // `envoy` may be empty.
  WorkloadHealth(WorkloadProbe probe, ProbeWay way, Check envoy, Report report);
  ~WorkloadHealth();  // as Stop()
  void Start();
  void Stop();

 private:
  void Run();
  bool StopsWithin(std::chrono::milliseconds wait);

  const WorkloadProbe probe_;
  const ProbeWay way_;
  const Check envoy_;
  const Report report_;
  std::mutex mutex_;
  std::condition_variable stop_;
  std::atomic<bool> stopping_{false};  // set under mutex_
  std::thread thread_;
};

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_WORKLOAD_HEALTH_H_
