#include <algorithm>
#include <utility>

#include "rpc/address.h"
#include "rpc/grpc_backend.h"

namespace fairlead::rpc {
namespace {

constexpr std::string_view kUnix = "unix:";

// REQUIRES: the address can be read.
transport::Listener ToListener(const std::string& text, std::shared_ptr<TlsCredentials> credentials) {
  transport::Listener listener;
  listener.name = text;
  listener.credentials = std::move(credentials);
  if (text.starts_with(kUnix)) {
    listener.path = text.substr(kUnix.size());
    // "unix:///run/x" is "unix:/run/x".
    if (listener.path.starts_with("//")) listener.path.erase(0, 2);
    return listener;
  }
  const absl::StatusOr<Address> address = ParseAddress(text);
  listener.host = address->host;
  listener.port = address->port;
  return listener;
}

class Nghttp2Backend : public ServerBackend {
 public:
  explicit Nghttp2Backend(GrpcServerOptions options) : server_(ToOptions(std::move(options))) {}
  absl::Status Start() override { return server_.Start(); }
  void Stop(std::chrono::milliseconds grace) override { server_.Stop(grace); }
  const std::vector<int>& ports() const override { return server_.ports(); }
  std::vector<transport::ConnectionInfo> Connections() const override { return server_.Connections(); }

 private:
  static transport::ServerOptions ToOptions(GrpcServerOptions options) {
    transport::ServerOptions out;
    for (const std::string& address : options.addresses)
      out.listeners.push_back(ToListener(address, nullptr));
    for (SecureAddress& secure : options.secure_addresses)
      out.listeners.push_back(ToListener(secure.address, std::move(secure.credentials)));
    out.keepalive = options.keepalive;
    out.limits.max_message_size = static_cast<size_t>(std::max(0, options.max_receive_size));
    out.limits.max_streams = static_cast<uint32_t>(std::max(1, options.max_streams));
    out.methods = std::move(options.methods);
    out.refuse = std::move(options.refuse);
    return out;
  }

  transport::Server server_;
};

}  // namespace

std::unique_ptr<ServerBackend> MakeNghttp2Backend(GrpcServerOptions options) {
  return std::make_unique<Nghttp2Backend>(std::move(options));
}

}  // namespace fairlead::rpc
