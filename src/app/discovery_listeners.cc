#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/discovery_server.h"
#include "app/version.h"
#include "base/duration.h"
#include "base/log.h"
#include "base/strings.h"
#include "debug/findings.h"
#include "rpc/reflection.h"
#include "transports/control_pages.h"
#include "transports/http_pages.h"
#include "transports/inspection.h"
#include "transports/rest.h"
#include "transports/xds_methods.h"

// What the server listens for, and what is served there.
namespace fairlead::app {
namespace {

LogScope listen_log("server");

// Connections of --httpAddr that have not asked for anything yet, besides those whose requests are answered.
constexpr size_t kSilentConnections = 512;
constexpr size_t kFewestRequests = 8;
// Scrapers and people are few.
constexpr size_t kMonitoringRequests = 64, kControlRequests = 16;

std::chrono::milliseconds Milliseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time);
}

// Of a flag that was checked when it was read.
std::chrono::milliseconds TimeOf(const std::string& text) { return Milliseconds(*ParseGoDuration(text)); }

}  // namespace

nlohmann::ordered_json DiscoveryServer::TransportConnections() const {
  const rpc::GrpcServer* server = nullptr;
  {
    std::lock_guard lock(mutex_);
    server = grpc_.get();
  }
  if (server == nullptr) return nullptr;
  auto list = nlohmann::ordered_json::array();
  for (const transport::ConnectionInfo& one : server->Connections()) {
    list.push_back({{"listener", one.listener},
                    {"peer", one.peer},
                    {"names", one.names},
                    {"tls", one.tls},
                    {"ageSeconds", static_cast<double>(one.age.count()) / 1000},
                    {"streams", one.streams},
                    {"receivedBytes", one.received},
                    {"sentBytes", one.sent},
                    {"unreadBytes", one.held}});
  }
  return list;
}

transport::FileShares DiscoveryServer::Shares() const {
  return transport::ShareFiles(transport::RaiseFileLimit(),
                               options_.environment.http_connections + kSilentConnections);
}

// Some of the listener's files are for connections that have not asked yet.
size_t DiscoveryServer::HttpRequests() const {
  return std::min(options_.environment.http_connections,
                  std::max(kFewestRequests, file_shares_.http * 3 / 4));
}

rpc::HttpServerOptions DiscoveryServer::HttpOptions() const {
  return {.max_requests = HttpRequests(), .max_connections = file_shares_.http};
}

rpc::HttpServerOptions DiscoveryServer::MonitoringOptions() const {
  return {.max_requests = kMonitoringRequests, .max_connections = file_shares_.monitoring};
}

rpc::HttpServerOptions DiscoveryServer::ControlOptions() const {
  return {.max_requests = kControlRequests, .max_connections = file_shares_.control, .threads = 1};
}

absl::Status DiscoveryServer::StartHttp() {
  transports::AddReadyPage(
      [this]() -> std::optional<std::vector<std::string>> {
        if (serving_) return std::nullopt;
        std::vector<std::string> awaited = loop_->Unsynced();
        for (const auto& source : sources_) {
          for (std::string& text : source->Awaited()) awaited.push_back(std::move(text));
        }
        for (const auto& check : start_checks_) check->AddAwaited(&awaited);
        return awaited;
      },
      &http_);
  transports::AddRestPaths(pusher_.get(), &debug_sources_, HttpRequests(), &http_);
  if (options_.environment.debug_on_http) {
    transports::AddDebugPaths(&debug_sources_, &http_);
    transports::AddDebugPaths(&debug_sources_, &monitoring_);
  }
  transports::AddMonitoringPages(
      "fairlead", std::string(kVersion), start_, [this] { debug::UpdateFindingMetrics(debug_sources_); },
      &monitoring_);
  for (const auto& [address, server] :
       {std::pair(&options_.http_addr, &http_), std::pair(&options_.monitoring_addr, &monitoring_)}) {
    if (address->empty()) continue;
    if (absl::Status status = server->Start(*address); !status.ok()) return status;
  }
  StartControl();
  return absl::OkStatus();
}

// As in istiod, a port that cannot be had is no reason to end.
void DiscoveryServer::StartControl() {
  if (options_.ctrlz_port == 0) return;
  transports::AddControlPages(&control_);
  const std::string host = options_.ctrlz_address == "*" ? "" : options_.ctrlz_address;
  const absl::Status status = control_.Start(StrCat(host, ":", options_.ctrlz_port));
  if (!status.ok()) listen_log.Warn("no ControlZ: {}", FromAbsl(status.message()));
}

rpc::GrpcServerOptions DiscoveryServer::GrpcOptions() {
  rpc::GrpcServerOptions options;
  if (!options_.grpc_addr.empty()) options.addresses = {options_.grpc_addr};
  transports::Prove prove;
  if (certificates_ != nullptr) {
    options.secure_addresses = {{options_.secure_grpc_addr, certificates_->credentials()}};
    options.methods = certificates_->Methods();
    prove = [certificates = certificates_.get()](const rpc::ServerStream& stream) {
      return certificates->Prove(stream);
    };
  }
  options.keepalive.interval = TimeOf(options_.keepalive_interval);
  options.keepalive.timeout = TimeOf(options_.keepalive_timeout);
  if (!options_.keepalive_max_connection_age.empty()) {
    options.keepalive.max_connection_age = TimeOf(options_.keepalive_max_connection_age);
  }
  options.max_receive_size = options_.environment.max_receive_size;
  options.keepalive.max_connection_idle = Milliseconds(options_.environment.connection_idle);
  options.max_streams = options_.environment.max_streams;
  options.max_streams_without_identity = options_.environment.max_streams_without_identity;
  options.first_message_timeout = Milliseconds(options_.environment.first_message_timeout);
  options.max_connections = file_shares_.streams;
  options.max_connections_per_address = static_cast<size_t>(options_.environment.max_connections_per_address);
  for (auto& method : transports::XdsMethods(pusher_.get(), prove))
    options.methods.push_back(std::move(method));
  for (auto& method : transports::ClientStatusMethods(&debug_sources_, &inspections_))
    options.methods.push_back(std::move(method));
  for (auto& method : rpc::ReflectionMethods(options.methods, &inspections_))
    options.methods.push_back(std::move(method));
  options.refuse = transports::RefuseMethod;
  return options;
}

}  // namespace fairlead::app
