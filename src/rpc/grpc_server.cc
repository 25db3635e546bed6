#include "rpc/grpc_server.h"

#include <set>
#include <utility>

#include "base/strings.h"
#include "rpc/address.h"
#include "rpc/grpc_backend.h"
#include "rpc/health.h"

namespace fairlead::rpc {
namespace {

// A port beyond 65535 would be taken for another one by some.
absl::Status CheckAddress(std::string_view address) {
  return address.starts_with("unix:") ? absl::OkStatus() : ParseAddress(address).status();
}

// "package.Service" of each "/package.Service/Method".
std::set<std::string> ServicesOf(const std::vector<GrpcMethod>& methods) {
  std::set<std::string> services;
  for (const GrpcMethod& method : methods) services.emplace(Split(method.path, '/').at(1));
  return services;
}

}  // namespace

GrpcServer::GrpcServer(GrpcServerOptions options)
    : options_(std::move(options)), health_(std::make_shared<Health>(ServicesOf(options_.methods))) {}

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
  backend_ = options.transport == Transport::kGrpc ? MakeGrpcBackend(std::move(options))
                                                   : MakeNghttp2Backend(std::move(options));
  return backend_->Start();
}

void GrpcServer::Drain() { health_->SetServing(false); }

void GrpcServer::Stop(std::chrono::milliseconds grace) {
  if (backend_ == nullptr) return;
  Drain();
  backend_->Stop(grace);
}

const std::vector<int>& GrpcServer::ports() const { return backend_ == nullptr ? none_ : backend_->ports(); }

std::vector<transport::ConnectionInfo> GrpcServer::Connections() const {
  return backend_ == nullptr ? std::vector<transport::ConnectionInfo>() : backend_->Connections();
}

}  // namespace fairlead::rpc
