#include "app/settings_files.h"

#include <sys/stat.h>

#include <chrono>
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
  config_log.Info("no file {}: the defaults hold", path);
  return nullptr;
}

bool IsThere(const std::string& path) {
  struct stat status;
  return !path.empty() && stat(path.c_str(), &status) == 0;
}

}  // namespace

SettingsFiles::SettingsFiles(Options options, OnSettings on_settings, OnDiagnostics on_diagnostics)
    : options_(std::move(options)),
      on_settings_(std::move(on_settings)),
      on_diagnostics_(std::move(on_diagnostics)) {}

SettingsFiles::~SettingsFiles() { Stop(); }

void SettingsFiles::Start() {
  mesh_in_file_ = IsThere(options_.mesh_config);
  networks_in_file_ = IsThere(options_.networks_config);
  mesh_file_ = Watch(options_.mesh_config,
                     [this](const absl::StatusOr<std::string>& text) { OnMesh(options_.mesh_config, text); });
  networks_file_ = Watch(options_.networks_config, [this](const absl::StatusOr<std::string>& text) {
    OnNetworks(options_.networks_config, text);
  });
  std::lock_guard lock(mutex_);
  started_ = true;
  HandOut();
}

void SettingsFiles::Stop() {
  if (mesh_file_ != nullptr) mesh_file_->Stop();
  if (networks_file_ != nullptr) networks_file_->Stop();
}

// REQUIRES: the file says something valid.
void SettingsFiles::Keep(const std::string& path, const std::string& text) {
  if (options_.kept == nullptr) return;
  const int64_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  options_.kept->Put({path, {}, {{"", now, 1, text}}});
}

// What an earlier process kept of a file that cannot be read now.
std::optional<source::GoodFile::Part> SettingsFiles::Kept(
    const std::string& path, std::vector<config::Diagnostic>* diagnostics) const {
  if (options_.kept == nullptr) return std::nullopt;
  const std::optional<source::GoodFile> file = options_.kept->Find(path);
  if (!file || file->parts.size() != 1) return std::nullopt;
  diagnostics->push_back(config::ServingEarlier(path, file->parts.front().time));
  return file->parts.front();
}

void SettingsFiles::SetMesh(const std::string& where, const std::string& text) {
  if (!mesh_in_file_) OnMesh(where, text);
}

void SettingsFiles::SetNetworks(const std::string& where, const std::string& text) {
  if (!networks_in_file_) OnNetworks(where, text);
}

void SettingsFiles::OnMesh(const std::string& path, const absl::StatusOr<std::string>& text) {
  std::lock_guard lock(mutex_);
  model::MeshConfigResult result;
  if (text.ok()) result = Parse(*text, path);
  if (text.ok()) mesh_diagnostics_ = std::move(result.diagnostics);
  if (!text.ok()) config_log.Info("{}: {}", path, FromAbsl(text.status().message()));
  std::string read = text.ok() ? *text : "";
  if (result.mesh != nullptr) {
    Keep(path, read);
  } else if (mesh_ == nullptr && !absl::IsNotFound(text.status())) {
    if (const auto kept = Kept(path, &mesh_diagnostics_)) result = Parse(read = kept->text, path);
  }
  if (result.mesh != nullptr) {
    mesh_ = std::move(result.mesh);
    mesh_path_ = path;
    mesh_text_ = std::move(read);
  }
  HandOut();
}

// Over the shared MeshConfig.
model::MeshConfigResult SettingsFiles::Parse(const std::string& text, const std::string& path) const {
  return shared_mesh_ == nullptr ? model::ParseMeshConfig(text, path)
                                 : model::ParseMeshConfig(text, path, *shared_mesh_);
}

void SettingsFiles::SetSharedMesh(const std::string& where, const std::string& text) {
  std::lock_guard lock(mutex_);
  model::MeshConfigResult result = model::ParseMeshConfig(text, where);
  shared_mesh_diagnostics_ = std::move(result.diagnostics);
  if (result.mesh != nullptr) {
    shared_mesh_ = std::move(result.mesh);
    if (mesh_ != nullptr) {
      model::MeshConfigResult again = Parse(mesh_text_, mesh_path_);
      if (again.mesh != nullptr) mesh_ = std::move(again.mesh);
    }
  }
  HandOut();
}

void SettingsFiles::SetSharedNetworks(const std::string& where, const std::string& text) {
  std::lock_guard lock(mutex_);
  model::MeshNetworksResult result = model::ParseMeshNetworks(text, where);
  shared_networks_diagnostics_ = std::move(result.diagnostics);
  if (result.networks != nullptr) shared_networks_ = std::move(result.networks);
  HandOut();
}

void SettingsFiles::OnNetworks(const std::string& path, const absl::StatusOr<std::string>& text) {
  std::lock_guard lock(mutex_);
  model::MeshNetworksResult result;
  if (text.ok()) result = model::ParseMeshNetworks(*text, path);
  if (text.ok()) networks_diagnostics_ = std::move(result.diagnostics);
  if (!text.ok()) config_log.Info("{}: {}", path, FromAbsl(text.status().message()));
  if (result.networks != nullptr) {
    Keep(path, *text);
  } else if (networks_ == nullptr && !absl::IsNotFound(text.status())) {
    if (const auto kept = Kept(path, &networks_diagnostics_))
      result = model::ParseMeshNetworks(kept->text, path);
  }
  if (result.networks != nullptr) networks_ = std::move(result.networks);
  HandOut();
}

void SettingsFiles::HandOut() {
  if (!started_) return;
  const model::SettingsOptions options{options_.domain,     options_.cluster_id, options_.system_namespace,
                                       options_.compliance, options_.gateways,   options_.features};
  model::SettingsPtr settings =
      model::MakeSettings(mesh_ != nullptr ? mesh_ : shared_mesh_,
                          shared_networks_ != nullptr ? shared_networks_ : networks_, options, settings_);
  const bool same = settings == settings_;
  settings_ = std::move(settings);
  if (!same) on_settings_(settings_);
  on_diagnostics_(AllDiagnostics());
}

std::vector<config::Diagnostic> SettingsFiles::Diagnostics() {
  std::lock_guard lock(mutex_);
  return AllDiagnostics();
}

std::vector<config::Diagnostic> SettingsFiles::AllDiagnostics() const {
  std::vector<config::Diagnostic> diagnostics = mesh_diagnostics_;
  for (const auto* more : {&networks_diagnostics_, &shared_mesh_diagnostics_, &shared_networks_diagnostics_})
    diagnostics.insert(diagnostics.end(), more->begin(), more->end());
  return diagnostics;
}

}  // namespace fairlead::app
