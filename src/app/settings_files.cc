#include "app/settings_files.h"

#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "model/mesh_config.h"

namespace fairlead::app {
namespace {

LogScope config_log("config");

std::unique_ptr<source::WatchedFile> Watch(const std::string& path, source::WatchedFile::Callback callback) {
  if (path.empty()) return nullptr;
  auto file = std::make_unique<source::WatchedFile>(path, std::move(callback));
  if (file->Start().ok()) return file;
  config_log.Info("no folder for {}: the defaults hold", path);
  return nullptr;
}

}  // namespace

SettingsFiles::SettingsFiles(Options options, OnSettings on_settings, OnDiagnostics on_diagnostics)
    : options_(std::move(options)),
      on_settings_(std::move(on_settings)),
      on_diagnostics_(std::move(on_diagnostics)) {}

SettingsFiles::~SettingsFiles() { Stop(); }

void SettingsFiles::Start() {
  mesh_file_ = Watch(options_.mesh_config, [this](absl::StatusOr<std::string> text) { OnMesh(text); });
  networks_file_ =
      Watch(options_.networks_config, [this](absl::StatusOr<std::string> text) { OnNetworks(text); });
  std::lock_guard lock(mutex_);
  started_ = true;
  HandOut();
}

void SettingsFiles::Stop() {
  if (mesh_file_ != nullptr) mesh_file_->Stop();
  if (networks_file_ != nullptr) networks_file_->Stop();
}

void SettingsFiles::OnMesh(const absl::StatusOr<std::string>& text) {
  std::lock_guard lock(mutex_);
  if (!text.ok()) {
    config_log.Info("{}: {}", options_.mesh_config, FromAbsl(text.status().message()));
    return;
  }
  model::MeshConfigResult result = model::ParseMeshConfig(*text, options_.mesh_config);
  mesh_diagnostics_ = std::move(result.diagnostics);
  if (result.mesh != nullptr) mesh_ = std::move(result.mesh);
  HandOut();
}

void SettingsFiles::OnNetworks(const absl::StatusOr<std::string>& text) {
  std::lock_guard lock(mutex_);
  if (!text.ok()) {
    config_log.Info("{}: {}", options_.networks_config, FromAbsl(text.status().message()));
    return;
  }
  model::MeshNetworksResult result = model::ParseMeshNetworks(*text, options_.networks_config);
  networks_diagnostics_ = std::move(result.diagnostics);
  if (result.networks != nullptr) networks_ = std::move(result.networks);
  HandOut();
}

void SettingsFiles::HandOut() {
  if (!started_) return;
  const model::SettingsOptions options{options_.domain, options_.cluster_id, options_.system_namespace,
                                       options_.compliance, options_.gateways};
  model::SettingsPtr settings = model::MakeSettings(mesh_, networks_, options, settings_);
  const bool same = settings == settings_;
  settings_ = std::move(settings);
  if (!same) on_settings_(settings_);
  std::vector<config::Diagnostic> diagnostics = mesh_diagnostics_;
  diagnostics.insert(diagnostics.end(), networks_diagnostics_.begin(), networks_diagnostics_.end());
  on_diagnostics_(std::move(diagnostics));
}

}  // namespace fairlead::app
