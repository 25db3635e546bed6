#ifndef FAIRLEAD_APP_SETTINGS_FILES_H_
#define FAIRLEAD_APP_SETTINGS_FILES_H_

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "config/diagnostic.h"
#include "model/mesh_config.h"
#include "model/settings.h"
#include "source/file/last_good.h"
#include "source/file/watched_file.h"

namespace istio::mesh::v1alpha1 {
class MeshConfig;
class MeshNetworks;
}  // namespace istio::mesh::v1alpha1

namespace fairlead::app {

// The files of --meshConfig and --networksConfig, read and watched. A file that does not exist means the
// defaults; one that breaks or goes away later keeps what it last said, and so does one that is broken at the
// start where an earlier process kept what it said.
class SettingsFiles {
 public:
  struct Options {
    std::string mesh_config, networks_config;  // paths; "" for none
    std::string domain, cluster_id, system_namespace;
    model::Compliance compliance = model::Compliance::kNone;
    model::GatewayFeatures gateways = {};
    model::Features features = {};
    source::LastGood* kept = nullptr;  // for a file that is broken at the start; may be null
  };
  // Called with settings that differ from the last; what did not change keeps its pointer.
  using OnSettings = std::function<void(model::SettingsPtr)>;
  using OnDiagnostics = std::function<void(std::vector<config::Diagnostic>)>;

  // The callbacks run on the caller's thread in Start, later on the watchers', one at a time.
  SettingsFiles(Options options, OnSettings on_settings, OnDiagnostics on_diagnostics);
  ~SettingsFiles();  // as Stop()
  // Reads both files and hands the settings out, then watches.
  void Start();
  void Stop();
  // What a ConfigMap says, in place of a file that was not there at the start; `where` is named in
  // diagnostics. Thread-safe.
  void SetMesh(const std::string& where, const std::string& text);
  void SetNetworks(const std::string& where, const std::string& text);
  // What the ConfigMap of SHARED_MESH_CONFIG says. The MeshConfig of the file, or of the other ConfigMap, is
  // laid over it; its networks count in place of others. Thread-safe. Source: Istio's bootstrap/mesh.go.
  void SetSharedMesh(const std::string& where, const std::string& text);
  void SetSharedNetworks(const std::string& where, const std::string& text);
  // What is wrong with the files now. Thread-safe.
  std::vector<config::Diagnostic> Diagnostics();

 private:
  void OnMesh(const std::string& path, const absl::StatusOr<std::string>& text);
  void OnNetworks(const std::string& path, const absl::StatusOr<std::string>& text);
  model::MeshConfigResult Parse(const std::string& text, const std::string& path) const;
  void Keep(const std::string& path, const std::string& text);
  std::optional<source::GoodFile::Part> Kept(const std::string& path,
                                             std::vector<config::Diagnostic>* diagnostics) const;
  void HandOut();                                          // REQUIRES: mutex_ held
  std::vector<config::Diagnostic> AllDiagnostics() const;  // likewise

  const Options options_;
  const OnSettings on_settings_;
  const OnDiagnostics on_diagnostics_;

  std::mutex mutex_;  // guards what follows; held during callbacks, so that they come in order
  bool started_ = false;
  std::shared_ptr<const istio::mesh::v1alpha1::MeshConfig> shared_mesh_;        // null: the defaults
  std::shared_ptr<const istio::mesh::v1alpha1::MeshNetworks> shared_networks_;  // null: none
  std::shared_ptr<const istio::mesh::v1alpha1::MeshConfig> mesh_;  // null: the shared one, else the defaults
  std::shared_ptr<const istio::mesh::v1alpha1::MeshNetworks> networks_;  // null: none
  std::string mesh_path_, mesh_text_;                                    // that mesh_ was read from
  model::SettingsPtr settings_;  // handed out last; null before the first
  std::vector<config::Diagnostic> mesh_diagnostics_, networks_diagnostics_, shared_mesh_diagnostics_,
      shared_networks_diagnostics_;
  bool mesh_in_file_ = false, networks_in_file_ = false;  // at the start
  std::unique_ptr<source::WatchedFile> mesh_file_, networks_file_;
};

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_SETTINGS_FILES_H_
