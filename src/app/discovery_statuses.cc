#include "app/discovery_server.h"
#include "base/files.h"
#include "base/strings.h"
#include "gateway_api/status/proxy_verdicts.h"
#include "push/rejection_report.h"

// What the server says about objects: statuses, and what proxies make of them.
namespace fairlead::app {

std::vector<gateway_api::StatusOf> DiscoveryServer::Statuses(const StoreMeshModel& model) {
  const config::ObjectStore objects = model.Store();
  std::vector<gateway_api::StatusOf> statuses = status_board_.Statuses(objects, *pusher_->Snapshot());
  gateway_api::AddProxyVerdicts(rejection_watch_.Diagnostics(),
                                {{push::kRejectedCode, "AcceptedByProxies", "Rejected"},
                                 {push::kNotInForceCode, "InForce", "NotInForce"}},
                                objects, &statuses);
  return statuses;
}

void DiscoveryServer::MakeStatuses(const StoreMeshModel* model) {
  debug_sources_.statuses = [this, model]() -> nlohmann::ordered_json {
    if (pusher_->Snapshot() == nullptr) return nullptr;
    return gateway_api::ToJson(Statuses(*model));
  };
}

absl::Status DiscoveryServer::StartStatusFiles(const StoreMeshModel* model) {
  if (options_.status_dir.empty()) return absl::OkStatus();
  // Statuses would be read as manifests.
  const std::string folder = AbsolutePath(options_.status_dir);
  if ((folder + "/").starts_with(AbsolutePath(options_.config_dir) + "/"))
    return absl::InvalidArgumentError("--statusDir must not lie in --configDir");
  status_files_ =
      std::make_unique<gateway_api::StatusFiles>(folder, [this, model] { return Statuses(*model); });
  return status_files_->Start();
}

void DiscoveryServer::StartRejectionWatch(const StoreMeshModel* model) {
  source::Sink* const sink = mesh_thread_->AddSource("proxies");
  sink->OnSynced();
  debug_sources_.find_object = [model](const config::ObjectKey& key) {
    return FindWritten(model->AllObjects(), key);
  };
  rejection_watch_.Start({[model] { return model->AllObjects(); }, sink, [this] {
                            if (status_files_ != nullptr) status_files_->OnPublished();
                          }});
}

}  // namespace fairlead::app
