#ifndef FAIRLEAD_SERVER_GRPC_SERVER_H_
#define FAIRLEAD_SERVER_GRPC_SERVER_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "http2/options.h"
#include "http2/server.h"
#include "http2/stream.h"
#include "http2/tls.h"

// A gRPC server whose methods exchange encoded messages, so that many streams can share the sent bytes. Knows
// nothing of what the messages say.
namespace fairlead::server {

using http2::ServerStream;
using http2::Slice;
using http2::StreamHandler;
using http2::StreamOpener;
using http2::TlsCredentials;
using http2::TlsPeer;

using http2::KeepaliveOptions;
using GrpcMethod = http2::Method;

struct SecureAddress {
  std::string address;  // as in GrpcServerOptions::addresses
  std::shared_ptr<TlsCredentials> credentials;
};

struct GrpcServerOptions {
  std::vector<std::string> addresses;           // plaintext: "127.0.0.1:15010", ":15010", "unix:/run/…"
  std::vector<SecureAddress> secure_addresses;  // TLS
  KeepaliveOptions keepalive;
  // The limit for a client's message, compressed or not; a larger one ends its stream with
  // RESOURCE_EXHAUSTED.
  int max_receive_size = 4 << 20;
  int max_streams = 100000;  // at a time, of one connection
  int max_streams_without_identity =
      100000;  // the same where the client's certificate does not say who it is
  std::chrono::milliseconds first_message_timeout = std::chrono::milliseconds(0);  // see http2::Limits
  // Likewise; 0: by the process's files, and no limit.
  size_t max_connections = 0, max_connections_per_address = 0;
  std::vector<GrpcMethod> methods;
  // The answer to an unknown method, from its path.
  std::function<absl::Status(std::string_view path)> refuse;
};

class HealthService;

class GrpcServer {
 public:
  explicit GrpcServer(GrpcServerOptions options);
  ~GrpcServer();  // as Stop(0)
  // Listens; InvalidArgument or Unavailable, naming the address, where it cannot. Health checks say "serving"
  // from now on, of the server and of each of its services.
  absl::Status Start();
  // Health checks say "not serving" from now on; everything else goes on.
  void Drain();
  // As Drain; takes no new streams, tells clients to go elsewhere, and ends what still runs after `grace`.
  void Stop(std::chrono::milliseconds grace);
  // The ports listened on (for ":0"), in the order of the addresses, those of the secure ones last.
  const std::vector<int>& ports() const;
  // The current ones.
  std::vector<http2::ConnectionInfo> Connections() const;

 private:
  absl::Status CheckAddresses() const;

  GrpcServerOptions options_;
  const std::shared_ptr<HealthService> health_;
  std::unique_ptr<http2::Server> server_;  // null before Start
  const std::vector<int> none_;
};

}  // namespace fairlead::server

#endif  // FAIRLEAD_SERVER_GRPC_SERVER_H_
