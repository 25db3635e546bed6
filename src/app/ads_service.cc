#include "app/ads_service.h"

#include <memory>
#include <utility>

namespace fairlead::app {
namespace {

// What the pusher sees of a gRPC stream.
class GrpcConnection : public push::Connection {
 public:
  explicit GrpcConnection(std::shared_ptr<rpc::ServerStream> stream) : stream_(std::move(stream)) {}
  void Read() override { stream_->Read(); }
  void Send(xds::Frame frame) override {
    std::vector<rpc::Slice> slices;
    slices.reserve(frame.size());
    for (xds::Piece& piece : frame) slices.push_back({std::move(piece.owner), piece.bytes});
    stream_->Send(std::move(slices));
  }
  void Close(const absl::Status& status) override { stream_->Close(status); }
  void Abort() override { stream_->Abort(); }

 private:
  const std::shared_ptr<rpc::ServerStream> stream_;
};

// What gRPC sees of a stream of the pusher.
class GrpcHandler : public rpc::StreamHandler {
 public:
  explicit GrpcHandler(push::StreamPtr stream) : stream_(std::move(stream)) {}
  void OnMessage(std::string bytes) override { stream_->OnRequest(std::move(bytes)); }
  void OnSent(bool ok) override { stream_->OnSent(ok); }
  void OnClosed() override { stream_->OnClosed(); }

 private:
  const push::StreamPtr stream_;
};

rpc::StreamOpener Opener(push::Pusher* pusher, xds::Framing framing) {
  return
      [pusher, framing](std::shared_ptr<rpc::ServerStream> transport) -> std::shared_ptr<rpc::StreamHandler> {
        push::StreamPtr stream = pusher->Open(framing, transport->peer());
        stream->Start(std::make_shared<GrpcConnection>(std::move(transport)));
        return std::make_shared<GrpcHandler>(std::move(stream));
      };
}

}  // namespace

std::vector<rpc::GrpcMethod> AdsMethods(push::Pusher* pusher) {
  return {
      {"/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources",
       Opener(pusher, xds::Framing::kStateOfTheWorld)},
      {"/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources",
       Opener(pusher, xds::Framing::kDelta)},
  };
}

}  // namespace fairlead::app
