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
#include "server/reflection.h"
#include "serving/control_pages.h"
#include "serving/http_pages.h"
#include "serving/inspection.h"
#include "serving/rest.h"
#include "serving/xds_methods.h"

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
  const server::GrpcServer* server = nullptr;
  {
    std::lock_guard lock(mutex_);
    server = grpc_.get();
  }
  if (server == nullptr) return nullptr;
  auto list = nlohmann::ordered_json::array();
  for (const http2::ConnectionInfo& one : server->Connections()) {
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

http2::FileShares DiscoveryServer::Shares() const {
  return http2::ShareFiles(http2::RaiseFileLimit(),
                           options_.environment.http_connections + kSilentConnections);
}

// Some of the listener's files are for connections that have not asked yet.
size_t DiscoveryServer::HttpRequests() const {
  return std::min(options_.environment.http_connections,
                  std::max(kFewestRequests, file_shares_.http * 3 / 4));
}

server::HttpServerOptions DiscoveryServer::HttpOptions() const {
  return {.max_requests = HttpRequests(), .max_connections = file_shares_.http};
}

server::HttpServerOptions DiscoveryServer::MonitoringOptions() const {
  return {.max_requests = kMonitoringRequests, .max_connections = file_shares_.monitoring};
}

server::HttpServerOptions DiscoveryServer::ControlOptions() const {
  return {.max_requests = kControlRequests, .max_connections = file_shares_.control, .threads = 1};
}

absl::Status DiscoveryServer::StartHttp() {
  serving::AddReadyPage(
      [this]() -> std::optional<std::vector<std::string>> {
        const std::string templates = webhooks_->Awaited();
        if (serving_ && templates.empty()) return std::nullopt;
        std::vector<std::string> awaited = loop_->Unsynced();
        if (!templates.empty()) awaited.push_back(templates);
        for (const auto& source : sources_) {
          for (std::string& text : source->Awaited()) awaited.push_back(std::move(text));
        }
        for (const auto& check : start_checks_) check->AddAwaited(&awaited);
        return awaited;
      },
      &http_);
  serving::AddRestPaths(pusher_.get(), &debug_sources_, HttpRequests(), &http_);
  if (options_.environment.debug_on_http) {
    serving::AddDebugPaths(&debug_sources_, &http_);
    serving::AddDebugPaths(&debug_sources_, &monitoring_);
  }
  serving::AddMonitoringPages(
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
  serving::AddControlPages(&control_);
  const std::string host = options_.ctrlz_address == "*" ? "" : options_.ctrlz_address;
  const absl::Status status = control_.Start(StrCat(host, ":", options_.ctrlz_port));
  if (!status.ok()) listen_log.Warn("no ControlZ: {}", FromAbsl(status.message()));
}

server::GrpcServerOptions DiscoveryServer::GrpcOptions() {
  server::GrpcServerOptions options;
  if (!options_.grpc_addr.empty()) options.addresses = {options_.grpc_addr};
  serving::Prove prove;
  if (certificates_ != nullptr && !options_.secure_grpc_addr.empty()) {
    options.secure_addresses = {{options_.secure_grpc_addr, certificates_->credentials()}};
    options.methods = certificates_->Methods();
    prove = [certificates = certificates_.get()](const server::ServerStream& stream, serving::Proven proven) {
      certificates->Prove(stream, std::move(proven));
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
  for (auto& method : serving::XdsMethods(pusher_.get(), prove)) options.methods.push_back(std::move(method));
  for (auto& method : serving::ClientStatusMethods(&debug_sources_, &inspections_))
    options.methods.push_back(std::move(method));
  for (auto& method : server::ReflectionMethods(options.methods, &inspections_))
    options.methods.push_back(std::move(method));
  options.refuse = serving::RefuseMethod;
  return options;
}

}  // namespace fairlead::app
