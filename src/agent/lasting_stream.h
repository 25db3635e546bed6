#ifndef FAIRLEAD_AGENT_LASTING_STREAM_H_
#define FAIRLEAD_AGENT_LASTING_STREAM_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "agent/proofs.h"
#include "agent/upstream.h"

namespace envoy::service::discovery::v3 {
class DiscoveryRequest;
class DiscoveryResponse;
}  // namespace envoy::service::discovery::v3

namespace fairlead::agent {

struct LastingStreamOptions {
  ControlPlaneOptions control_plane;
  std::string node;  // envoy.config.core.v3.Node as JSON
  std::string type;  // type URL of what is subscribed to
  std::chrono::milliseconds first_retry{1'000}, last_retry{30'000};
  // A control plane that keeps a stream so long without an answer has taken it.
  std::chrono::milliseconds patience{2'000};

  // The certificate that proves who asks, for each stream; null: none. On the stream's thread.
  std::function<Secret()> own = nullptr;
  // A response came: an error refuses it, OK acknowledges it. On the call's thread; must not block; null: all
  // are acknowledged.
  std::function<absl::Status(const envoy::service::discovery::v3::DiscoveryResponse&)> take = nullptr;
  // Each time that the control plane has taken the stream: by an answer that was acknowledged, or by keeping
  // it. On the stream's thread; null: nobody asks.
  std::function<void()> taken = nullptr;
  // The stream ended, or there was none, and why, with the way out; OK where the control plane ended it so. A
  // new one follows. On the stream's thread; null: nobody asks.
  std::function<void(const absl::Status&)> ended = nullptr;
};

// A stream of the agent's own to the control plane: it subscribes to one type, over ADS. One that ends is
// begun anew, later each time until one is taken. It has a thread of its own. Thread-safe.
// Source: envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol
class LastingStream {
 public:
  explicit LastingStream(LastingStreamOptions options);
  ~LastingStream();  // as Stop()
  void Start();
  // Ends the stream; no callback comes after it.
  void Stop();
  // A request besides the subscription: sent now, and at the beginning of each stream that follows, in place
  // of an earlier one.
  void Tell(const envoy::service::discovery::v3::DiscoveryRequest& request);

 private:
  class Exchange;
  void Run();
  // Until the stream ends, which is why.
  absl::Status RunOnce(bool* taken);

  const LastingStreamOptions options_;
  Upstream upstream_;
  std::mutex mutex_;
  std::condition_variable changed_;  // stopping_, or what became of a stream
  bool stopping_ = false;            // guarded by mutex_
  std::string told_;                 // the request of Tell; "": none; likewise
  UpstreamCall* call_ = nullptr;     // likewise; null: no stream
  std::thread thread_;
};

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_LASTING_STREAM_H_
