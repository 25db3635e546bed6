#include "rpc/grpc_backend.h"

#include <grpcpp/grpcpp.h>

#include <cstdlib>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "base/log.h"
#include "base/strings.h"
#include "rpc/address.h"
#include "rpc/generic_stream.h"

namespace fairlead::rpc {
namespace {

// What zero stands for (see KeepaliveOptions).
constexpr std::chrono::hours kRarePings{2};
constexpr std::chrono::seconds kLongAnswer{20};
// What is read from a connection at once: a buffer of that size stays with it.
constexpr int kMaxReadSize = 8 << 10;

LogScope grpc_log("grpc");

int Milliseconds(std::chrono::milliseconds duration) {
  return static_cast<int>(std::min<int64_t>(duration.count(), INT_MAX));
}

int MillisecondsOr(std::chrono::milliseconds duration, std::chrono::milliseconds fallback) {
  return Milliseconds(duration.count() == 0 ? fallback : duration);
}

// ":15010" means all addresses, of both families.
std::string ToGrpcAddress(const std::string& address) {
  return address.starts_with(':') ? StrCat("[::]", address) : address;
}

// Ends a call with a status.
class Refusal : public grpc::ServerGenericBidiReactor {
 public:
  explicit Refusal(const absl::Status& status) {
    Finish({static_cast<grpc::StatusCode>(status.code()), std::string(status.message())});
  }
  void OnDone() override { delete this; }
};

class Service : public grpc::CallbackGenericService {
 public:
  explicit Service(const GrpcServerOptions& options) : options_(options) {}
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
    for (const GrpcMethod& method : options_.methods) {
      if (method.path == context->method()) return GenericStream::Open(context, method.open);
    }
    grpc_log.Debug("{} calls {}, which is not served", context->peer(), context->method());
    if (!options_.refuse) return grpc::CallbackGenericService::CreateReactor(context);
    return new Refusal(options_.refuse(context->method()));
  }

 private:
  const GrpcServerOptions& options_;
};

class GrpcBackend : public ServerBackend {
 public:
  explicit GrpcBackend(GrpcServerOptions options) : options_(std::move(options)), service_(options_) {}

  absl::Status Start() override {
    if (!options_.secure_addresses.empty())
      return absl::UnimplementedError("TLS is served by the nghttp2 transport alone");
    // Debian's abseil looks for cycles among gRPC's locks each time one is taken: a twentieth of all work.
    absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
    grpc::ServerBuilder builder;
    ports_.resize(options_.addresses.size());
    for (size_t i = 0; i < options_.addresses.size(); ++i) {
      builder.AddListeningPort(ToGrpcAddress(options_.addresses[i]), grpc::InsecureServerCredentials(),
                               &ports_[i]);
    }
    Tune(builder);
    builder.RegisterCallbackGenericService(&service_);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr) return WhyNotStarted();
    return absl::OkStatus();
  }

  void Stop(std::chrono::milliseconds grace) override {
    if (server_ == nullptr) return;
    server_->Shutdown(std::chrono::system_clock::now() + grace);
    server_->Wait();
    server_ = nullptr;
  }

  const std::vector<int>& ports() const override { return ports_; }
  std::vector<transport::ConnectionInfo> Connections() const override { return {}; }

 private:
  // gRPC logs the reason and does not hand it out.
  absl::Status WhyNotStarted() const {
    for (size_t i = 0; i < options_.addresses.size(); ++i) {
      if (ports_[i] == 0 && !options_.addresses[i].starts_with("unix:"))
        return ListenFailure(options_.addresses[i]);
    }
    return absl::UnavailableError(StrCat("cannot listen on ", Join(options_.addresses, ", ")));
  }

  void Tune(grpc::ServerBuilder& builder) const {
    const KeepaliveOptions& keepalive = options_.keepalive;
    const int interval = MillisecondsOr(keepalive.interval, kRarePings);
    builder.SetMaxReceiveMessageSize(options_.max_receive_size);
    builder.SetMaxSendMessageSize(-1);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, options_.max_streams);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, interval);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, MillisecondsOr(keepalive.timeout, kLongAnswer));
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, interval / 2);
    builder.AddChannelArgument(
        GRPC_ARG_MAX_CONNECTION_AGE_MS,
        MillisecondsOr(keepalive.max_connection_age, std::chrono::milliseconds::max()));
    // Without it the streams of an old connection, which know no end, would keep it for ever.
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS,
                               Milliseconds(keepalive.max_connection_age_grace));
    // Requests are small: no need to grow the receive windows of thousands of connections.
    builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddChannelArgument(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, kMaxReadSize);
  }

  const GrpcServerOptions options_;
  Service service_;
  std::vector<int> ports_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

void PrepareGrpc() {
  // With it, a connection that once received 8 KiB at once keeps a buffer of 64 KiB and more, whatever
  // GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE says (gRPC 1.51, maybe_make_read_slices in tcp_posix.cc).
  setenv("GRPC_EXPERIMENTS", "-tcp_read_chunks", /*overwrite=*/0);
}

std::unique_ptr<ServerBackend> MakeGrpcBackend(GrpcServerOptions options) {
  return std::make_unique<GrpcBackend>(std::move(options));
}

}  // namespace fairlead::rpc
