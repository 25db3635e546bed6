#ifndef FAIRLEAD_AGENT_TRUST_STREAM_H_
#define FAIRLEAD_AGENT_TRUST_STREAM_H_

#include <chrono>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "agent/ca_client.h"
#include "agent/secret_store.h"

namespace fairlead::agent {

struct TrustStreamOptions {
  CaClientOptions control_plane;  // where it is, and what the agent proves itself by
  std::string node;               // envoy.config.core.v3.Node as JSON
  std::chrono::milliseconds first_retry{1'000}, last_retry{30'000};
};

// Asks the control plane what to trust besides the roots that come with the workload's certificate (an
// istio.mesh.v1alpha1.ProxyConfig over xDS), on a stream and a thread of its own, and tells the store. A
// stream that ends is begun anew, later each time; what was told last holds meanwhile. Source: pilot-agent,
// which does so with PROXY_CONFIG_XDS_AGENT.
class TrustStream {
 public:
  // `store` must outlive it.
  TrustStream(TrustStreamOptions options, SecretStore* store);
  ~TrustStream();  // as Stop()
  void Start();
  void Stop();

 private:
  void Run();
  // Until the stream ends, which is why.
  absl::Status RunOnce(bool* told);
  bool StopWithin(std::chrono::milliseconds wait);

  const TrustStreamOptions options_;
  SecretStore* const store_;
  void* const multi_;  // libcurl's
  std::mutex mutex_;
  bool stopping_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_TRUST_STREAM_H_
