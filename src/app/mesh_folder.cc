#include "app/mesh_folder.h"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "app/derivations.h"
#include "app/settings_files.h"
#include "simulate/gateway_pods.h"
#include "simulate/made_up.h"
#include "simulate/rule_lines.h"
#include "source/file/file_source.h"
#include "source/file/folder_scanner.h"
#include "source/file/read_file.h"
#include "state/mesh.h"

namespace fairlead::app {
namespace {

// Keeps what a source says until it has said all that was there when it started.
class FirstBatch : public source::Sink {
 public:
  void OnChanges(std::vector<config::ObjectChange> changes) override {
    std::lock_guard lock(mutex_);
    changes_.insert(changes_.end(), changes.begin(), changes.end());
  }
  void Replace(config::Kind /*kind*/, std::vector<config::ConfigPtr> objects) override {
    std::lock_guard lock(mutex_);
    for (config::ConfigPtr& object : objects) changes_.push_back({config::KeyOf(*object), std::move(object)});
  }
  void Synced(config::Kind /*kind*/) override {}
  void OnDiagnostics(std::vector<config::Diagnostic> diagnostics) override {
    std::lock_guard lock(mutex_);
    diagnostics_ = std::move(diagnostics);
  }
  void OnSynced() override {
    std::lock_guard lock(mutex_);
    synced_ = true;
    changed_.notify_all();
  }
  void Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return synced_; });
  }
  // After the source has stopped.
  std::vector<config::ObjectChange> TakeChanges() { return std::move(changes_); }
  std::vector<config::Diagnostic> TakeDiagnostics() { return std::move(diagnostics_); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool synced_ = false;
  std::vector<config::ObjectChange> changes_;
  std::vector<config::Diagnostic> diagnostics_;
};

model::SettingsPtr ReadSettings(const simulate::MeshFiles& paths,
                                std::vector<config::Diagnostic>* diagnostics) {
  std::mutex mutex;
  model::SettingsPtr settings;
  SettingsFiles files(
      {paths.mesh_config, paths.networks_config, paths.domain, paths.cluster_id, paths.system_namespace,
       model::Compliance::kNone},
      [&](model::SettingsPtr now) {
        std::lock_guard lock(mutex);
        settings = std::move(now);
      },
      [&](std::vector<config::Diagnostic> all) {
        std::lock_guard lock(mutex);
        *diagnostics = std::move(all);
      });
  files.Start();
  files.Stop();
  return settings;
}

std::vector<simulate::WorkloadTemplate> ReadTemplates(const std::string& folder) {
  source::ScanOptions options;
  options.wants = source::IsManifestName;
  std::vector<simulate::WorkloadTemplate> templates;
  for (const auto& [file, info] : source::ScanFolder(folder, options).files) {
    const auto text = source::ReadFile(file);
    if (!text.ok()) continue;  // a diagnostic says so
    for (auto& one : simulate::ReadTemplates(*text, file)) templates.push_back(std::move(one));
  }
  return templates;
}

// Adds what a cluster would make of the manifests.
void Complete(const std::string& folder, simulate::LoadedMesh* mesh) {
  for (auto& [key, object] : mesh->objects) object = simulate::WithNamedRoutes(object);
  std::vector<simulate::WorkloadTemplate> templates = ReadTemplates(folder);
  for (auto& router : simulate::MissingRouters(templates, mesh->objects))
    templates.push_back(std::move(router));
  simulate::MadeUp made = simulate::MakeUp(templates, mesh->objects);
  for (config::ObjectChange& change : made.objects) mesh->objects[change.key] = std::move(change.object);
  mesh->made_up_pods = std::move(made.pods);
  mesh->made_up_addresses = std::move(made.addresses);
  mesh->made_up_services = made.services;
}

}  // namespace

absl::StatusOr<simulate::LoadedMesh> LoadMesh(const simulate::MeshFiles& files) {
  source::FileSource::Options options;
  options.folder = files.folder;
  FirstBatch batch;
  source::FileSource source(std::move(options));
  if (absl::Status status = source.Start(&batch); !status.ok()) return status;
  batch.Wait();
  source.Stop();

  simulate::LoadedMesh mesh;
  const model::SettingsPtr read = ReadSettings(files, &mesh.diagnostics);
  for (const config::ObjectChange& change : batch.TakeChanges()) {
    if (change.object != nullptr) mesh.objects[change.key] = change.object;
  }
  if (files.simulated) Complete(files.folder, &mesh);
  std::vector<config::ObjectChange> changes;
  changes.reserve(mesh.objects.size());
  for (const auto& [key, object] : mesh.objects) changes.push_back({key, object});
  DerivationOptions derivations;
  derivations.controllers = files.simulated;  // as discovery of a folder
  state::Mesh made(MakeDerivations(derivations));
  mesh.snapshot = made.Apply(changes, read).snapshot;
  for (auto&& all : {batch.TakeDiagnostics(), made.Diagnostics()})
    mesh.diagnostics.insert(mesh.diagnostics.end(), all.begin(), all.end());
  return mesh;
}

}  // namespace fairlead::app
