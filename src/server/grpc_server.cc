#include "server/grpc_server.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/strings.h"
#include "server/address.h"
#include "server/health.h"

namespace fairlead::server {
namespace {

constexpr std::string_view kUnix = "unix:";

// A port beyond 65535 would be taken for another one by some.
absl::Status CheckAddress(std::string_view address) {
  return address.starts_with(kUnix) ? absl::OkStatus() : ParseAddress(address).status();
}

// REQUIRES: the address can be read.
http2::Listener ToListener(const std::string& text, std::shared_ptr<TlsCredentials> credentials) {
  http2::Listener listener;
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

// REQUIRES: the addresses can be read.
http2::ServerOptions ToServerOptions(GrpcServerOptions options) {
  http2::ServerOptions out;
  for (const std::string& address : options.addresses) out.listeners.push_back(ToListener(address, nullptr));
  for (SecureAddress& secure : options.secure_addresses)
    out.listeners.push_back(ToListener(secure.address, std::move(secure.credentials)));
  out.keepalive = options.keepalive;
  out.limits.max_message_size = static_cast<size_t>(std::max(0, options.max_receive_size));
  out.limits.max_streams = static_cast<uint32_t>(std::max(1, options.max_streams));
  out.limits.max_streams_without_identity =
      static_cast<uint32_t>(std::max(1, options.max_streams_without_identity));
  out.limits.first_message_timeout = options.first_message_timeout;
  out.limits.max_connections = options.max_connections;
  out.limits.max_connections_per_address = options.max_connections_per_address;
  out.methods = std::move(options.methods);
  out.refuse = std::move(options.refuse);
  return out;
}

// "package.Service" of each "/package.Service/Method".
std::set<std::string> ServicesOf(const std::vector<GrpcMethod>& methods) {
  std::set<std::string> services;
  for (const GrpcMethod& method : methods) services.emplace(Split(method.path, '/').at(1));
  return services;
}

}  // namespace

GrpcServer::GrpcServer(GrpcServerOptions options)
    : options_(std::move(options)), health_(std::make_shared<HealthService>(ServicesOf(options_.methods))) {}

GrpcServer::~GrpcServer() { Stop(std::chrono::milliseconds(0)); }

absl::Status GrpcServer::CheckAddresses() const {
  for (const std::string& address : options_.addresses) {
    if (absl::Status status = CheckAddress(address); !status.ok()) return status;
  }
  for (const SecureAddress& secure : options_.secure_addresses) {
    if (absl::Status status = CheckAddress(secure.address); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status GrpcServer::Start() {
  if (absl::Status status = CheckAddresses(); !status.ok()) return status;
  GrpcServerOptions options = options_;
  for (GrpcMethod& method : health_->Methods()) options.methods.push_back(std::move(method));
  health_->SetServing(true);
  server_ = std::make_unique<http2::Server>(ToServerOptions(std::move(options)));
  return server_->Start();
}

void GrpcServer::Drain() { health_->SetServing(false); }

void GrpcServer::Stop(std::chrono::milliseconds grace) {
  if (server_ == nullptr) return;
  Drain();
  server_->Stop(grace);
}

const std::vector<int>& GrpcServer::ports() const { return server_ == nullptr ? none_ : server_->ports(); }

std::vector<http2::ConnectionInfo> GrpcServer::Connections() const {
  return server_ == nullptr ? std::vector<http2::ConnectionInfo>() : server_->Connections();
}

}  // namespace fairlead::server
