#include "app/discovery_server.h"
#include "base/files.h"
#include "base/strings.h"
#include "gateway_api/status/proxy_verdicts.h"
#include "push/rejection_report.h"

// What the server says about objects: statuses, and what proxies make of them.
namespace fairlead::app {

namespace {

const std::vector<gateway_api::VerdictCondition>& Conditions() {
  static const auto* conditions =
      new std::vector<gateway_api::VerdictCondition>{{push::kRejectedCode, "AcceptedByProxies", "Rejected"},
                                                     {push::kNotInForceCode, "InForce", "NotInForce"}};
  return *conditions;
}

}  // namespace

void DiscoveryServer::MakeStatuses() {
  status_board_ = std::make_unique<gateway_api::StatusBoard>(Conditions());
  debug_sources_.statuses = [this]() -> nlohmann::ordered_json {
    if (status_board_->empty()) return nullptr;
    auto list = nlohmann::ordered_json::array();
    for (const auto& [key, status] : status_board_->Current()) list.push_back(gateway_api::ToJson(*status));
    return list;
  };
}

absl::Status DiscoveryServer::StartStatusFiles() {
  if (options_.status_dir.empty()) return absl::OkStatus();
  // Statuses would be read as manifests.
  const std::string folder = AbsolutePath(options_.status_dir);
  if (!options_.config_dir.empty() && (folder + "/").starts_with(AbsolutePath(options_.config_dir) + "/"))
    return absl::InvalidArgumentError("--statusDir must not lie in --configDir");
  status_files_ =
      std::make_unique<gateway_api::StatusFiles>(folder, [this] { return status_board_->Current(); });
  return status_files_->Start();
}

// They tell diagnostics alone.
void DiscoveryServer::StartWatches() {
  const auto sink = [this](const char* name) {
    source::Sink* const made = loop_->AddSource(name);
    made->OnSynced();
    return made;
  };
  const auto objects = [this] { return loop_->Objects(); };
  rejection_watch_.Start({objects, sink("proxies"), [this] {
                            status_board_->SetVerdicts(rejection_watch_.Diagnostics());
                            if (status_files_ != nullptr) status_files_->OnPublished();
                          }});
  reference_watch_.Start({objects, options_.domain, sink("references")});
}

}  // namespace fairlead::app
