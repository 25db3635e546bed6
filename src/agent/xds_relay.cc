#include "agent/xds_relay.h"

#include <mutex>
#include <utility>

#include "agent/own_socket.h"
#include "agent/relay_stream.h"
#include "agent/way_out.h"
#include "base/strings.h"

namespace fairlead::agent {
namespace {

constexpr std::string_view kService = "/envoy.service.discovery.v3.AggregatedDiscoveryService/";

}  // namespace

// The streams that are open, for certificates to reach those that wait.
class XdsRelay::Streams {
 public:
  Streams(bool tls, SecretStore* store, Upstream* upstream, wasm::Rewriter* rewriter,
          std::vector<RelayTap> taps)
      : tls_(tls), store_(store), upstream_(upstream), rewriter_(rewriter), taps_(std::move(taps)) {}

  server::GrpcMethod Method(std::string_view name, bool delta, const std::shared_ptr<Streams>& self) {
    const std::string path = StrCat(kService, name);
    return {path,
            [self, delta,
             path](std::shared_ptr<server::ServerStream> stream) -> std::shared_ptr<server::StreamHandler> {
              server::ServerStream& to_read = *stream;
              auto handler = std::make_shared<RelayStream>(
                  std::move(stream), delta,
                  [self, path](std::shared_ptr<UpstreamHandler> control_plane) {
                    return self->Open(path, std::move(control_plane));
                  },
                  self->rewriter_, [self](const absl::Status& status) { self->Note(status); }, self->taps_);
              self->open_.Add(handler);
              handler->Open();
              to_read.Read();
              return handler;
            }};
  }
  void OnChange() {
    for (const auto& stream : open_.All()) stream->Open();
  }
  // What became of a stream to the control plane: it answers, or how it ended.
  void Note(const absl::Status& status) {
    std::lock_guard lock(mutex_);
    difficulty_ = status.ok() ? "" : WithWayOut(status.ToString());
  }
  std::string difficulty() {
    std::lock_guard lock(mutex_);
    return difficulty_;
  }
  void Stop() {
    open_.Clear();
    std::lock_guard lock(mutex_);
    stopped_ = true;
  }

 private:
  absl::StatusOr<std::unique_ptr<UpstreamCall>> Open(const std::string& path,
                                                     std::shared_ptr<UpstreamHandler> control_plane) {
    Proofs proofs;
    if (tls_) {
      const auto pair = store_->Get("default"), believed = store_->Get("ROOTCA");
      if (!pair || !believed) return std::unique_ptr<UpstreamCall>();
      proofs.own = *pair;
      proofs.roots = believed->roots;
    }
    std::lock_guard lock(mutex_);
    if (stopped_) return absl::UnavailableError("the agent ends");
    return upstream_->Open(path, std::move(proofs), std::move(control_plane));
  }

  const bool tls_;
  SecretStore* const store_;
  Upstream* const upstream_;
  wasm::Rewriter* const rewriter_;
  const std::vector<RelayTap> taps_;
  std::mutex mutex_;
  bool stopped_ = false;    // guarded by mutex_
  std::string difficulty_;  // guarded by mutex_
  OpenStreams<RelayStream> open_;
};

XdsRelay::XdsRelay(Options options, SecretStore* store)
    : options_(std::move(options)),
      modules_(options_.modules),
      rewriter_(&modules_, options_.fetches_at_a_time),
      upstream_(options_.upstream),
      streams_(
          std::make_shared<Streams>(options_.upstream.tls, store, &upstream_, &rewriter_, options_.taps)) {
  store->Follow([streams = streams_](const std::string&, const Secret&) { streams->OnChange(); });
}

XdsRelay::~XdsRelay() { Stop(); }

absl::Status XdsRelay::Start() {
  modules_.Start();
  auto server = ServeOnOwnSocket(options_.socket,
                                 {streams_->Method("StreamAggregatedResources", /*delta=*/false, streams_),
                                  streams_->Method("DeltaAggregatedResources", /*delta=*/true, streams_)});
  if (server.ok()) server_ = std::move(*server);
  return server.status();
}

std::string XdsRelay::Difficulty() const {
  const std::string why = streams_->difficulty();
  if (why.empty()) return "";
  return StrCat("no configuration from the control plane at ", options_.upstream.host, ":",
                options_.upstream.port, ": ", why);
}

void XdsRelay::Stop() {
  streams_->Stop();
  if (server_ != nullptr) server_->Stop(std::chrono::milliseconds(0));
  upstream_.Stop();
  modules_.Stop();
  rewriter_.Stop();
}

}  // namespace fairlead::agent
