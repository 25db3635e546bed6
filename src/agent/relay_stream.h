#ifndef FAIRLEAD_AGENT_RELAY_STREAM_H_
#define FAIRLEAD_AGENT_RELAY_STREAM_H_

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "agent/relay_tap.h"
#include "agent/upstream.h"
#include "envoy/service/discovery/v3/discovery.pb.h"
#include "server/grpc_server.h"
#include "wasm/rewrite.h"

namespace fairlead::agent {

// One stream of the proxy and the one that it goes on by. Thread-safe.
class RelayStream : public server::StreamHandler, public std::enable_shared_from_this<RelayStream> {
 public:
  // Begins the control plane's end; null where what it needs is not there yet: Open is then called again. An
  // error ends the stream.
  using Opener =
      std::function<absl::StatusOr<std::unique_ptr<UpstreamCall>>(std::shared_ptr<UpstreamHandler>)>;

  // OK with each answer of the control plane, else how its stream ended; must not block.
  using Progress = std::function<void(const absl::Status&)>;

  RelayStream(std::shared_ptr<server::ServerStream> stream, bool delta, Opener opener,
              wasm::Rewriter* rewriter, Progress progress, std::vector<RelayTap> taps = {});
  void Open();

  void OnMessage(std::string_view bytes) override;
  void OnSent(bool ok) override;
  void OnClosed() override;

 private:
  class ControlPlane;  // its end
  struct ToProxy {
    std::string bytes;
    size_t came = 0;  // bytes of it from the control plane, before it was rewritten
  };
  struct Answer;  // one for extension configurations, while it is rewritten

  void OnReply(std::string message);
  const RelayTap* TapOf(std::string_view response) const;
  void OnTaken();
  void OnEnd(const absl::Status& status);
  void OnRewritten(const std::shared_ptr<Answer>& answer, const absl::Status& status);

  // REQUIRES, of all: mutex_ held.
  void LookAt(std::string_view request);
  void SendOn(std::string_view request);
  void NoteExtensions(std::string_view request);
  void Pump();
  void RewriteNext();
  void Refuse(const Answer& answer, const absl::Status& why);

  const std::shared_ptr<server::ServerStream> stream_;
  const bool delta_;
  const Opener opener_;
  wasm::Rewriter* const rewriter_;
  const Progress progress_;
  const std::vector<RelayTap> taps_;

  std::mutex mutex_;
  // All are guarded by mutex_.
  std::unique_ptr<UpstreamCall> call_;  // null: not open yet, or over
  std::string first_;                   // a request that waits for the call
  std::deque<ToProxy> to_proxy_;
  std::deque<std::string> to_rewrite_;
  size_t sending_bytes_ = 0;
  envoy::service::discovery::v3::DiscoveryRequest last_;  // for extension configurations; state of the world
  bool over_ = false, sending_ = false, rewriting_ = false, reading_ = true;
  bool seen_ = false, lacks_wasm_ = false, said_ = false;
  bool tapped_ = false;  // the taps' types are subscribed to
};

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_RELAY_STREAM_H_
