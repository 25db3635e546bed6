#include "agent/xds_relay.h"

#include <sys/stat.h>

#include <mutex>
#include <utility>
#include <vector>

#include "agent/relay_stream.h"
#include "base/files.h"
#include "base/strings.h"

namespace fairlead::agent {
namespace {

constexpr std::string_view kService = "/envoy.service.discovery.v3.AggregatedDiscoveryService/";

}  // namespace

// The streams that are open, for certificates to reach those that wait.
class XdsRelay::Streams {
 public:
  Streams(bool tls, SecretStore* store, Upstream* upstream, wasm::Rewriter* rewriter)
      : tls_(tls), store_(store), upstream_(upstream), rewriter_(rewriter) {}

  rpc::GrpcMethod Method(std::string_view name, bool delta, const std::shared_ptr<Streams>& self) {
    const std::string path = StrCat(kService, name);
    return {path,
            [self, delta,
             path](std::shared_ptr<rpc::ServerStream> stream) -> std::shared_ptr<rpc::StreamHandler> {
              rpc::ServerStream& to_read = *stream;
              auto handler = std::make_shared<RelayStream>(
                  std::move(stream), delta,
                  [self, path](std::shared_ptr<UpstreamHandler> control_plane) {
                    return self->Open(path, std::move(control_plane));
                  },
                  self->rewriter_);
              self->Add(handler);
              handler->Open();
              to_read.Read();
              return handler;
            }};
  }
  void OnChange() {
    std::vector<std::shared_ptr<RelayStream>> open;
    {
      std::lock_guard lock(mutex_);
      for (const auto& weak : streams_) {
        if (auto stream = weak.lock()) open.push_back(std::move(stream));
      }
    }
    for (const auto& stream : open) stream->Open();
  }
  void Stop() {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    streams_.clear();
  }

 private:
  void Add(const std::shared_ptr<RelayStream>& stream) {
    std::lock_guard lock(mutex_);
    std::erase_if(streams_, [](const auto& weak) { return weak.expired(); });
    streams_.push_back(stream);
  }
  std::unique_ptr<UpstreamCall> Open(const std::string& path,
                                     std::shared_ptr<UpstreamHandler> control_plane) {
    Secret own, roots;
    if (tls_) {
      const auto pair = store_->Get("default"), believed = store_->Get("ROOTCA");
      if (!pair || !believed) return nullptr;
      own = *pair;
      roots = *believed;
    }
    std::lock_guard lock(mutex_);
    if (stopped_) return nullptr;
    return upstream_->Open(path, own, roots.roots, std::move(control_plane));
  }

  const bool tls_;
  SecretStore* const store_;
  Upstream* const upstream_;
  wasm::Rewriter* const rewriter_;
  std::mutex mutex_;
  bool stopped_ = false;                             // guarded by mutex_
  std::vector<std::weak_ptr<RelayStream>> streams_;  // guarded by mutex_
};

XdsRelay::XdsRelay(Options options, SecretStore* store)
    : options_(std::move(options)),
      modules_(options_.modules),
      rewriter_(&modules_, options_.fetches_at_a_time),
      upstream_(options_.upstream),
      streams_(std::make_shared<Streams>(options_.upstream.tls, store, &upstream_, &rewriter_)) {
  store->Follow([streams = streams_](const std::string&, const Secret&) { streams->OnChange(); });
}

XdsRelay::~XdsRelay() { Stop(); }

absl::Status XdsRelay::Start() {
  if (const size_t slash = options_.socket.rfind('/'); slash != std::string::npos && slash > 0) {
    if (absl::Status status = CreateFolders(options_.socket.substr(0, slash)); !status.ok()) return status;
  }
  if (absl::Status status = RemoveFile(options_.socket); !status.ok()) return status;
  modules_.Start();
  upstream_.Start();
  rpc::GrpcServerOptions server;
  server.addresses = {StrCat("unix:", options_.socket)};
  server.methods = {streams_->Method("StreamAggregatedResources", /*delta=*/false, streams_),
                    streams_->Method("DeltaAggregatedResources", /*delta=*/true, streams_)};
  server_ = std::make_unique<rpc::GrpcServer>(std::move(server));
  // The socket is for this user alone from its first moment.
  const mode_t before = umask(0177);
  const absl::Status status = server_->Start();
  umask(before);
  return status;
}

void XdsRelay::Stop() {
  streams_->Stop();
  if (server_ != nullptr) server_->Stop(std::chrono::milliseconds(0));
  upstream_.Stop();
  modules_.Stop();
  rewriter_.Stop();
}

}  // namespace fairlead::agent
