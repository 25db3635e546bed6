#include "agent/health_server.h"

#include <utility>

#include "base/log.h"
#include "base/strings.h"

namespace fairlead::agent {
namespace {

LogScope status_log("status");

constexpr std::chrono::milliseconds kFresh{100};
constexpr server::HttpServerOptions kLimits{
    .max_requests = 64, .max_connections = 256, .threads = 8, .request_patience = std::chrono::seconds(2)};

// Envoy is live, too, where its first listeners or clusters were refused: of each kind some must have been
// taken.
bool Configured(std::string_view stats) {
  for (const std::string_view name :
       {"cluster_manager.cds.update_success: ", "listener_manager.lds.update_success: "}) {
    const size_t at = stats.find(name);
    if (at == std::string_view::npos || stats.substr(at + name.size()).starts_with('0')) return false;
  }
  return true;
}

}  // namespace

HealthServer::HealthServer(Readiness::Get get, std::string discovery, Readiness::Reasons reasons)
    : get_(std::move(get)), discovery_(std::move(discovery)), reasons_(std::move(reasons)) {}

HealthServer::HealthServer(std::function<absl::Status()> check) : check_(std::move(check)) {}

HealthServer::~HealthServer() { Stop(); }

void HealthServer::Serve(int port, const std::function<void(server::HttpServer*)>& add) {
  if (port == 0) return;
  auto server = std::make_unique<server::HttpServer>(kLimits);
  server->Get("/healthz/ready", [this](const server::HttpRequest&) {
    const absl::Status status = Check();
    return status.ok() ? server::HttpResponse{200, "ready\n"}
                       : server::HttpResponse{503, StrCat(FromAbsl(status.message()), "\n")};
  });
  add(server.get());
  if (const absl::Status status = server->Start(StrCat(":", port)); !status.ok()) {
    status_log.Warn("no probes: {}", std::string(status.message()));
    return;
  }
  server_ = std::move(server);
}

void HealthServer::Stop() {
  if (server_ != nullptr) server_->Stop();
  server_ = nullptr;
}

// One probe asks; others that come meanwhile get its answer.
absl::Status HealthServer::Check() {
  std::lock_guard lock(mutex_);
  const Phase phase = phase_;
  if (asked_in_ == phase && Clock::now() - asked_ < kFresh) return found_;
  found_ = Ask();
  asked_in_ = phase;
  asked_ = Clock::now();
  return found_;
}

absl::Status HealthServer::Ask() {
  if (check_) return check_();
  if (phase_ == kStops) return absl::UnavailableError("the agent stops, and Envoy drains its listeners");
  if (phase_ == kDoesNotRun) return absl::UnavailableError("Envoy does not run");
  if (!get_("/ready").ok()) {
    const std::string reasons = WhyNotReady(get_, discovery_, reasons_);
    return absl::UnavailableError(StrCat("Envoy is not ready", reasons.empty() ? "" : ". ", reasons));
  }
  const auto stats = get_("/stats?filter=^(cluster_manager.cds|listener_manager.lds).update_success$");
  if (stats.ok() && !Configured(*stats))
    return absl::UnavailableError("Envoy has refused its first listeners or clusters; its log says why");
  return condition_ ? condition_() : absl::OkStatus();
}

}  // namespace fairlead::agent
