#ifndef FAIRLEAD_RPC_GENERIC_STREAM_H_
#define FAIRLEAD_RPC_GENERIC_STREAM_H_

#include <grpcpp/generic/async_generic_service.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "rpc/grpc_server.h"

namespace fairlead::rpc {

// Bridges gRPC's reactor, which deletes itself after OnDone, and our stream, which others hold as long as
// they like. gRPC calls OnDone only after Finish was called and every operation has come back, so that the
// reactor is there as long as Finish was not called: that is what `finished_` tells, under the lock.
class GenericStream : public ServerStream, public std::enable_shared_from_this<GenericStream> {
 public:
  // Makes the stream and its reactor, and gives the handler its start.
  static grpc::ServerGenericBidiReactor* Open(grpc::GenericCallbackServerContext* context,
                                              const StreamOpener& open);

  GenericStream(grpc::GenericCallbackServerContext* context, std::string peer);

  void Read() override;
  void Send(std::vector<Slice> message) override;
  void Close(const absl::Status& status) override;
  void Abort() override;
  const std::string& peer() const override { return peer_; }
  const TlsPeer* tls() const override { return nullptr; }
  std::optional<std::string> Metadata(std::string_view name) const override;

 private:
  class Reactor;
  void Finish(const grpc::Status& status);

  grpc::GenericCallbackServerContext* const context_;  // valid while not done
  const std::string peer_;
  std::mutex mutex_;
  Reactor* reactor_ = nullptr;  // valid while not finished
  bool finished_ = false, done_ = false;
  std::shared_ptr<StreamHandler> handler_;  // set once, before the reactor runs
};

}  // namespace fairlead::rpc

#endif  // FAIRLEAD_RPC_GENERIC_STREAM_H_
