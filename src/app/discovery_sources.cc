#include <random>
#include <utility>

#include "app/cluster_access.h"
#include "app/discovery_server.h"
#include "app/ignored_objects.h"
#include "app/mesh_config_map.h"
#include "source/cluster/cluster_source.h"
#include "source/file/file_source.h"

// Where objects come from.
namespace fairlead::app {

// Files first, then the cluster: of an object that both have the files' counts.
absl::Status DiscoveryServer::MakeSources() {
  if (!options_.config_dir.empty()) MakeFileSource();
  return ReadsCluster(options_) ? MakeClusterSource() : absl::OkStatus();
}

void DiscoveryServer::MakeFileSource() {
  source::FileSource::Options files;
  if (options_.environment.features.inference_pools) files.acted_on = {config::Kind::kInferencePool};
  files.folder = options_.config_dir;
  files.kept = kept_.get();
  if (options_.on_emptied == "keep") files.on_emptied = source::FileSource::Options::OnEmptied::kKeep;
  if (options_.on_invalid_policy == "deny") files.lost_policies = source::FileCatalog::LostPolicies::kDenied;
  sources_.push_back(std::make_unique<source::FileSource>(std::move(files)));
}

absl::Status DiscoveryServer::MakeClusterSource() {
  absl::StatusOr<kube::ServerAccess> access = ClusterAccessOf(options_);
  if (!access.ok()) return access.status();
  const Environment& environment = options_.environment;
  source::ClusterSource::Options cluster;
  cluster.access = *std::move(access);
  cluster.only_namespace = environment.only_namespace;
  cluster.ignored = IgnoredBy(environment).kinds;
  if (environment.features.inference_pools) cluster.acted_on = {config::Kind::kInferencePool};
  cluster.deny_lost = options_.on_invalid_policy == "deny";
  cluster.loop.seed = std::random_device()();
  api_client_ = std::make_unique<fetch::Client>();
  sources_.push_back(std::make_unique<source::ClusterSource>(std::move(cluster), api_client_.get()));
  return absl::OkStatus();
}

// Of a cluster the ConfigMap `istio` has the mesh's settings where no files have them.
source::Sink* DiscoveryServer::WithConfigMap(const source::Source& source, source::Sink* next) {
  if (api_client_ == nullptr || &source != sources_.back().get()) return next;
  MeshConfigMap::Texts texts;
  texts.mesh = [this](const std::string& where, const std::string& text) { settings_->SetMesh(where, text); };
  texts.networks = [this](const std::string& where, const std::string& text) {
    settings_->SetNetworks(where, text);
  };
  object_filters_.push_back(std::make_unique<MeshConfigMap>(options_.ns, "istio", std::move(texts), next));
  return object_filters_.back().get();
}

}  // namespace fairlead::app
