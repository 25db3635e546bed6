#ifndef FAIRLEAD_AGENT_ANNOUNCER_H_
#define FAIRLEAD_AGENT_ANNOUNCER_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "agent/proofs.h"
#include "agent/upstream.h"

namespace fairlead::agent {

struct AnnouncerOptions {
  ControlPlaneOptions control_plane;
  std::string node;  // envoy.config.core.v3.Node as JSON, with AUTO_REGISTER_GROUP in its metadata
  std::chrono::milliseconds first_retry{1'000}, last_retry{30'000};
  // A control plane that keeps a stream so long without an answer has taken it.
  std::chrono::milliseconds patience{2'000};
  // Each time that it is registered (OK), or why it is not. On a thread of its own; must not block.
  std::function<void(const absl::Status&)> progress = nullptr;
};

// Announces a workload without an Envoy to the control plane: a stream like a proxy's, which registers the
// workload's WorkloadEntry for as long as it is there, and on which its health is told. A stream that ends is
// begun anew, later each time. Thread-safe. Source: Istio's pilot/pkg/autoregistration; pilot-agent, for the
// requests about health.
class Announcer {
 public:
  explicit Announcer(AnnouncerOptions options);
  ~Announcer();  // as Stop()
  void Start();
  // Ends the stream.
  void Stop();
  // An error says why the workload is not healthy. Told now, and at the beginning of each stream.
  void SetHealth(const absl::Status& health);

 private:
  class Exchange;
  void Run();
  // Until the stream ends, which is why.
  absl::Status RunOnce(bool* taken);
  void Note(const absl::Status& status);
  void SendHealth();  // REQUIRES: mutex_ held

  const AnnouncerOptions options_;
  Upstream upstream_;
  std::mutex mutex_;
  std::condition_variable changed_;     // stopping_, or what became of a stream
  bool stopping_ = false;               // guarded by mutex_
  std::optional<absl::Status> health_;  // likewise
  UpstreamCall* call_ = nullptr;        // likewise; null: no stream
  std::thread thread_;
};

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_ANNOUNCER_H_
