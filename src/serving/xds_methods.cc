#include "serving/xds_methods.h"

#include <memory>
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

// What gRPC sees of a stream of the pusher.
class GrpcHandler : public server::StreamHandler {
 public:
  explicit GrpcHandler(push::StreamPtr stream) : stream_(std::move(stream)) {}
  void OnMessage(std::string_view bytes) override { stream_->OnRequest(bytes); }
  void OnSent(bool ok) override { stream_->OnSent(ok); }
  void OnClosed() override { stream_->OnClosed(); }

 private:
  const push::StreamPtr stream_;
};

// Of a call that is refused.
class Refused : public server::StreamHandler {
 public:
  void OnMessage(std::string_view /*bytes*/) override {}
  void OnSent(bool /*ok*/) override {}
  void OnClosed() override {}
};

server::StreamOpener Opener(push::Pusher* pusher, push::StreamOptions options, const Prove& prove) {
  return [pusher, options = std::move(options),
          prove](std::shared_ptr<server::ServerStream> transport) -> std::shared_ptr<server::StreamHandler> {
    push::StreamOptions own = options;
    own.peer.address = transport->peer();
    if (prove) {
      auto identities = prove(*transport);
      if (!identities.ok()) {
        transport->Close(identities.status());
        return std::make_shared<Refused>();
      }
      own.peer.identities = *std::move(identities);
      if (!own.peer.identities.empty()) transport->NoteIdentity();
    }
    push::StreamPtr stream = pusher->Open(std::move(own));
    stream->Start(std::make_shared<GrpcConnection>(std::move(transport)));
    return std::make_shared<GrpcHandler>(std::move(stream));
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
