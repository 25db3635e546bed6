#ifndef FAIRLEAD_AGENT_TRUST_STREAM_H_
#define FAIRLEAD_AGENT_TRUST_STREAM_H_

#include <chrono>
#include <string>

#include "absl/status/status.h"
#include "agent/lasting_stream.h"
#include "agent/proofs.h"
#include "agent/secret_store.h"

namespace fairlead::agent {

struct TrustStreamOptions {
  ControlPlaneOptions control_plane;
  std::string node;                              // envoy.config.core.v3.Node as JSON
  std::chrono::milliseconds first_retry{1'000};  // as LastingStreamOptions has it
};

// Asks the control plane for roots besides those of the workload's certificate, and tells the store (an
// istio.mesh.v1alpha1.ProxyConfig over xDS). What was told last holds while there is no stream. Source:
// pilot-agent, which does so with PROXY_CONFIG_XDS_AGENT.
class TrustStream {
 public:
  // `store` must outlive it.
  TrustStream(TrustStreamOptions options, SecretStore* store);
  void Start() { stream_.Start(); }
  void Stop() { stream_.Stop(); }

 private:
  LastingStreamOptions StreamOf(TrustStreamOptions options, SecretStore* store);
  void OnEnd(const absl::Status& why);

  const std::string control_plane_;  // for the log
  std::string last_end_;             // of the stream's thread: as last logged
  LastingStream stream_;             // last: it calls OnEnd
};

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_TRUST_STREAM_H_
