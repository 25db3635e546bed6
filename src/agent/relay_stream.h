#ifndef FAIRLEAD_AGENT_RELAY_STREAM_H_
#define FAIRLEAD_AGENT_RELAY_STREAM_H_

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "agent/proxy_subscriptions.h"
#include "agent/relay_tap.h"
#include "agent/upstream.h"
#include "base/clock.h"
#include "server/grpc_server.h"
#include "source/platform/retry_pause.h"
#include "wasm/rewrite.h"

namespace fairlead::agent {

// One stream of the proxy, and the streams to control planes that it goes on by, one after another. The proxy
// notices nothing of their ends: the next control plane hears what the proxy is subscribed to and has. The
// control plane is read from only as far as the proxy takes. Thread-safe.
class RelayStream : public server::StreamHandler, public std::enable_shared_from_this<RelayStream> {
 public:
  // The stream's surroundings; none of it may block.
  struct Surroundings {
    // Begins a stream to a control plane; null where its needs are not there yet: Open is then called again.
    std::function<absl::StatusOr<std::unique_ptr<UpstreamCall>>(std::shared_ptr<UpstreamHandler>)> open;
    // Calls Open after a while.
    std::function<void(const std::shared_ptr<RelayStream>&, std::chrono::milliseconds)> open_later;
    // OK with each answer of a control plane, else the end of its stream.
    std::function<void(const absl::Status&)> progress;
    // A request about the workload's health, which is no subscription; "": none.
    std::function<std::string(bool delta)> health;
    std::vector<RelayTap> taps;  // types that the agent asks for, too, and keeps for itself
  };

  // `rewriter` makes files of extension configurations' modules; null: they pass as they are.
  RelayStream(std::shared_ptr<server::ServerStream> stream, bool delta, Surroundings surroundings,
              wasm::Rewriter* rewriter);
  // Begins or goes on with a control plane, unless there is one.
  void Open();
  // The workload's health has changed.
  void OnHealth();

  void OnMessage(std::string_view bytes) override;
  void OnSent(bool ok) override;
  void OnClosed() override;

 private:
  class ControlPlane;  // the end of one of its streams
  struct ToProxy {
    std::string bytes;
    size_t came = 0;  // bytes of it from the control plane, before it was rewritten
  };
  struct Answer;  // one for extension configurations, while it is rewritten

  void OnReply(size_t control_plane, std::string message);
  const RelayTap* TapOf(std::string_view response) const;
  void OnTapped(size_t control_plane, const RelayTap& tap, std::string_view response);
  void OnTaken(size_t control_plane);
  void OnEnd(size_t control_plane, const absl::Status& status);
  void OnRewritten(const std::shared_ptr<Answer>& answer, const absl::Status& status);

  // REQUIRES, of all: mutex_ held.
  void ReadOn();
  void SendOwn();
  void Retry(const absl::Status& why);
  void LookAt(std::string_view request);
  void NoteExtensions(std::string_view request);
  void Pump();
  void RewriteNext();
  void Refuse(const Answer& answer, const absl::Status& why);

  const std::shared_ptr<server::ServerStream> stream_;
  const bool delta_;
  const Surroundings surroundings_;
  wasm::Rewriter* const rewriter_;

  std::mutex mutex_;
  // All are guarded by mutex_.
  ProxySubscriptions subscriptions_;
  std::unique_ptr<UpstreamCall> call_;  // null: not open
  size_t control_plane_ = 0;            // number of the present one, or of the last
  source::RetryPause pause_;            // before the next one
  Clock::time_point opened_;            // the present one
  std::string last_end_;                // of a control plane's stream, as it was logged
  std::deque<ToProxy> to_proxy_;
  std::deque<std::string> to_rewrite_;
  size_t sending_bytes_ = 0, sending_of_ = 0;  // the message on its way, and its control plane
  bool over_ = false, sending_ = false, rewriting_ = false, reading_ = true, said_health_ = false;
  bool tapped_ = false;  // the taps' types are subscribed to at the present control plane
  bool seen_ = false, lacks_wasm_ = false, said_ = false;
};

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_RELAY_STREAM_H_
