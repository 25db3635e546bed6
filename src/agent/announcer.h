#ifndef FAIRLEAD_AGENT_ANNOUNCER_H_
#define FAIRLEAD_AGENT_ANNOUNCER_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "agent/lasting_stream.h"
#include "agent/proofs.h"

namespace fairlead::agent {

struct AnnouncerOptions {
  ControlPlaneOptions control_plane;
  std::string node;  // envoy.config.core.v3.Node as JSON, with AUTO_REGISTER_GROUP in its metadata
  // Each time that it is registered (OK), or why it is not. On a thread of its own; must not block.
  std::function<void(const absl::Status&)> progress;
};

// Announces a workload without an Envoy to the control plane: a stream like a proxy's, which registers the
// workload's WorkloadEntry for as long as it is there, and on which its health is told. Thread-safe.
// Source: Istio's pilot/pkg/autoregistration; pilot-agent, for the requests about health.
class Announcer {
 public:
  explicit Announcer(AnnouncerOptions options);
  void Start() { stream_.Start(); }
  // Ends the stream.
  void Stop() { stream_.Stop(); }
  // An error says why the workload is not healthy. Told now, and at the beginning of each stream.
  void SetHealth(const absl::Status& health);

 private:
  LastingStream stream_;
};

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_ANNOUNCER_H_
