#include "serving/xds_methods.h"

#include <memory>
#include <mutex>
#include <utility>

#include "base/strings.h"
#include "xds/services.h"

namespace fairlead::serving {
namespace {

// What the pusher sees of a gRPC stream.
class GrpcConnection : public push::StreamConnection {
 public:
  explicit GrpcConnection(std::shared_ptr<server::ServerStream> stream) : stream_(std::move(stream)) {}
  void Read() override { stream_->Read(); }
  void Send(xds::Frame frame) override {
    std::vector<server::Slice> slices;
    slices.reserve(frame.size());
    for (xds::Piece& piece : frame) slices.push_back({std::move(piece.owner), piece.bytes});
    stream_->Send(std::move(slices));
  }
  void Close(const absl::Status& status) override { stream_->Close(status); }
  void Abort() override { stream_->Abort(); }

 private:
  const std::shared_ptr<server::ServerStream> stream_;
};

// What gRPC sees of a stream of the pusher, which begins once the caller is proven. Until then no message is
// asked for, so that none comes.
class GrpcHandler : public server::StreamHandler {
 public:
  void OnMessage(std::string_view bytes) override { stream()->OnRequest(bytes); }
  void OnSent(bool ok) override {
    if (const push::StreamPtr opened = stream()) opened->OnSent(ok);
  }
  void OnClosed() override {
    std::unique_lock lock(mutex_);
    closed_ = true;
    const push::StreamPtr opened = stream_;
    lock.unlock();
    if (opened != nullptr) opened->OnClosed();
  }

  void Begin(push::Pusher* pusher, push::StreamOptions options,
             const std::shared_ptr<server::ServerStream>& transport,
             absl::StatusOr<std::vector<std::string>> identities) {
    if (!identities.ok()) return transport->Close(identities.status());
    options.peer.identities = *std::move(identities);
    if (!options.peer.identities.empty()) transport->NoteIdentity();
    std::lock_guard lock(mutex_);
    if (closed_) return;
    stream_ = pusher->Open(std::move(options));
    stream_->Start(std::make_shared<GrpcConnection>(transport));
  }

 private:
  push::StreamPtr stream() {
    std::lock_guard lock(mutex_);
    return stream_;
  }

  std::mutex mutex_;
  push::StreamPtr stream_;  // guarded by mutex_; null until the caller is proven
  bool closed_ = false;     // likewise
};

server::StreamOpener Opener(push::Pusher* pusher, push::StreamOptions options, const Prove& prove) {
  return [pusher, options = std::move(options),
          prove](std::shared_ptr<server::ServerStream> transport) -> std::shared_ptr<server::StreamHandler> {
    push::StreamOptions own = options;
    own.peer.address = transport->peer();
    auto handler = std::make_shared<GrpcHandler>();
    const auto begin = [handler, pusher, own = std::move(own),
                        transport](absl::StatusOr<std::vector<std::string>> identities) {
      handler->Begin(pusher, own, transport, std::move(identities));
    };
    if (prove) {
      prove(*transport, begin);
    } else {
      begin(std::vector<std::string>());
    }
    return handler;
  };
}

std::string Path(std::string_view service, std::string_view method) {
  return StrCat("/", service, "/", method);
}

}  // namespace

std::vector<server::GrpcMethod> XdsMethods(push::Pusher* pusher, const Prove& prove) {
  using push::Exchange;
  using xds::Framing;
  std::vector<server::GrpcMethod> methods = {
      {Path(xds::kAggregatedService, "StreamAggregatedResources"), Opener(pusher, {}, prove)},
      {Path(xds::kAggregatedService, "DeltaAggregatedResources"),
       Opener(pusher, {.framing = Framing::kDelta}, prove)},
  };
  for (const xds::ServiceInfo& service : xds::kServices) {
    const auto add = [&](std::string_view method, Framing framing, Exchange exchange) {
      if (method.empty()) return;
      methods.push_back(
          {Path(service.service, method),
           Opener(pusher, {.framing = framing, .only = service.type, .exchange = exchange}, prove)});
    };
    add(service.stream, Framing::kStateOfTheWorld, Exchange::kStream);
    add(service.delta, Framing::kDelta, Exchange::kStream);
    add(service.fetch, Framing::kStateOfTheWorld, Exchange::kFetch);
  }
  return methods;
}

absl::Status RefuseMethod(std::string_view path) {
  if (path.starts_with("/envoy.api.v2.") || path.starts_with("/envoy.service.discovery.v2.")) {
    return absl::UnimplementedError(StrCat("xDS v2 is not served: use /", xds::kAggregatedService,
                                           "/StreamAggregatedResources instead of ", path));
  }
  return absl::UnimplementedError(StrCat(path, " is not served"));
}

}  // namespace fairlead::serving
