#ifndef FAIRLEAD_AGENT_TRUST_STREAM_H_
#define FAIRLEAD_AGENT_TRUST_STREAM_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "agent/proofs.h"
#include "agent/secret_store.h"

namespace fairlead::agent {

struct TrustStreamOptions {
  ControlPlaneOptions control_plane;
  std::string node;  // envoy.config.core.v3.Node as JSON
  std::chrono::milliseconds first_retry{1'000}, last_retry{30'000};
};

// Asks the control plane for roots besides those of the workload's certificate, and tells the store (an
// istio.mesh.v1alpha1.ProxyConfig over xDS). It has a stream and a thread of its own. A stream that ends is
// begun anew, later each time; what was told last holds meanwhile. Source: pilot-agent, which does so with
// PROXY_CONFIG_XDS_AGENT.
class TrustStream {
 public:
  // `store` must outlive it.
  TrustStream(TrustStreamOptions options, SecretStore* store);
  ~TrustStream();  // as Stop()
  void Start();
  void Stop();

 private:
  class Exchange;
  void Run();
  // Until the stream ends, which is why.
  absl::Status RunOnce(bool* told);

  const TrustStreamOptions options_;
  SecretStore* const store_;
  Upstream upstream_;
  std::mutex mutex_;
  std::condition_variable changed_;  // stopping_, or a stream's end
  bool stopping_ = false;            // guarded by mutex_
  std::thread thread_;
};

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_TRUST_STREAM_H_
