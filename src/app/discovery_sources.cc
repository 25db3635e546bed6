#include <iterator>
#include <random>
#include <utility>

#include "app/cluster_access.h"
#include "app/discovery_server.h"
#include "app/ignored_objects.h"
#include "app/mesh_config_map.h"
#include "app/platform_sources.h"
#include "source/cluster/cluster_source.h"
#include "source/cluster/remote_clusters.h"
#include "source/file/file_source.h"

// Where objects come from.
namespace fairlead::app {
namespace {

// Kinds that nothing here acts on need not be read.
void IgnoreClusterSet(const model::Features& features, std::set<config::Kind>* kinds) {
  if (!features.mcs_discovery) kinds->insert(config::Kind::kServiceExport);
  if (!features.mcs_hosts) kinds->insert(config::Kind::kServiceImport);
}

// What is not read of other clusters.
std::set<config::Kind> IgnoredOfOthers(const Environment& environment) {
  const model::Features& features = environment.features;
  std::set<config::Kind> kinds = IgnoredBy(environment).kinds;
  for (const config::KindInfo& info : config::AllKinds()) {
    const bool secrets = info.kind == config::Kind::kSecret && environment.remote_credentials;
    if (!config::CountsFromEveryCluster(info.kind) && !secrets) kinds.insert(info.kind);
  }
  if (!features.entries_of_all_clusters || !features.services_select_entries)
    kinds.insert(config::Kind::kWorkloadEntry);
  IgnoreClusterSet(features, &kinds);
  return kinds;
}

// The kinds that some variable gives an effect.
std::vector<config::Kind> ActedOn(const model::Features& features) {
  std::vector<config::Kind> kinds;
  if (features.inference_pools) kinds.push_back(config::Kind::kInferencePool);
  if (features.mcs_discovery) kinds.push_back(config::Kind::kServiceExport);
  if (features.mcs_hosts) kinds.push_back(config::Kind::kServiceImport);
  return kinds;
}

// What is read of every cluster alike.
void SetKinds(const Environment& environment, source::ClusterSource::Options* options) {
  options->only_namespace = environment.only_namespace;
  options->revision = environment.revision;
  options->mcs_group = environment.features.mcs_group;
  options->mcs_version = environment.features.mcs_version;
  options->acted_on = ActedOn(environment.features);
  options->loop.watches.streaming = true;
}

}  // namespace

// Files first, then the cluster: of an object that both have the files' counts.
absl::Status DiscoveryServer::MakeSources() {
  if (!options_.config_dir.empty()) sources_.push_back(FilesOf(options_.config_dir));
  if (!ReadsCluster(options_)) return absl::OkStatus();
  if (absl::Status status = MakeClusterSource(); !status.ok()) return status;
  return MakeRemoteClusters();
}

// After --configDir, before the cluster, unless the list says where that comes.
absl::Status DiscoveryServer::AddPlatformSources() {
  auto made = MakePlatformSources(options_, [this](const std::string& folder) { return FilesOf(folder); });
  if (!made.ok()) return made.status();
  const auto own = static_cast<ptrdiff_t>(options_.config_dir.empty() ? 0 : 1);
  const auto before = static_cast<ptrdiff_t>(made->before_cluster.value_or(made->sources.size()));
  const auto first = std::make_move_iterator(made->sources.begin()),
             last = std::make_move_iterator(made->sources.end());
  sources_.insert(sources_.end(), first + before, last);
  sources_.insert(sources_.begin() + own, first, first + before);
  return absl::OkStatus();
}

std::unique_ptr<source::Source> DiscoveryServer::FilesOf(const std::string& folder) const {
  source::FileSource::Options files;
  files.acted_on = ActedOn(options_.environment.features);
  files.folder = folder;
  files.kept = kept_.get();
  if (options_.on_emptied == "keep") files.on_emptied = source::FileSource::Options::OnEmptied::kKeep;
  if (options_.on_invalid_policy == "deny") files.lost_policies = source::FileCatalog::LostPolicies::kDenied;
  return std::make_unique<source::FileSource>(std::move(files));
}

absl::Status DiscoveryServer::MakeClusterSource() {
  absl::StatusOr<kube::ServerAccess> access = ClusterAccessOf(options_);
  if (!access.ok()) return access.status();
  const Environment& environment = options_.environment;
  source::ClusterSource::Options cluster;
  cluster.access = *std::move(access);
  SetKinds(environment, &cluster);
  cluster.ignored = IgnoredBy(environment).kinds;
  IgnoreClusterSet(environment.features, &cluster.ignored);
  cluster.deny_lost = options_.on_invalid_policy == "deny";
  cluster.loop.seed = std::random_device()();
  sources_.push_back(std::make_unique<source::ClusterSource>(std::move(cluster), api_client_.get()));
  cluster_source_ = sources_.back().get();
  return absl::OkStatus();
}

absl::Status DiscoveryServer::MakeRemoteClusters() {
  absl::StatusOr<kube::ServerAccess> access = RemoteSecretAccessOf(options_);
  if (!access.ok()) return access.status();
  const Environment& environment = options_.environment;
  source::RemoteClusters::Options remote;
  remote.access = *std::move(access);
  remote.ns = options_.ns;
  remote.rules.own_cluster = options_.cluster_id;
  remote.rules.most_clusters = static_cast<size_t>(environment.remote_clusters);
  remote.accepted = environment.kubeconfig_options;
  remote.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(environment.remote_cluster_timeout);
  SetKinds(environment, &remote.clusters);
  remote.clusters.ignored = IgnoredOfOthers(environment);
  // Other clusters need not have definitions of kinds, nor let us read what few of them have.
  remote.clusters.optional = {config::Kind::kWorkloadEntry};
  remote.clusters.rediscover = std::chrono::minutes(5);
  remote.clusters.watch_definitions = !remote.clusters.ignored.contains(config::Kind::kWorkloadEntry) ||
                                      !remote.clusters.ignored.contains(config::Kind::kServiceExport);
  remote.clusters.loop.seed = remote.loop.seed = std::random_device()();
  auto clusters = std::make_unique<source::RemoteClusters>(std::move(remote), api_client_.get());
  remote_clusters_ = clusters.get();
  debug_sources_.other_clusters = [this] { return remote_clusters_->States(); };
  sources_.push_back(std::move(clusters));
  return absl::OkStatus();
}

source::Sink* DiscoveryServer::WithRegistration(source::Sink* next) {
  std::unique_ptr<source::Sink> tap = registration_.Tap(next);
  if (tap == nullptr) return next;
  object_filters_.push_back(std::move(tap));
  return object_filters_.back().get();
}

// Of a cluster a ConfigMap has the mesh's settings where no files have them.
source::Sink* DiscoveryServer::WithConfigMap(const source::Source& source, source::Sink* next) {
  if (&source != cluster_source_) return next;
  MeshConfigMap::Texts texts;
  texts.mesh = [this](const std::string& where, const std::string& text) { settings_->SetMesh(where, text); };
  texts.networks = [this](const std::string& where, const std::string& text) {
    settings_->SetNetworks(where, text);
  };
  object_filters_.push_back(std::make_unique<MeshConfigMap>(
      options_.ns, MeshConfigMapName(options_.environment.revision), std::move(texts), next));
  return WithSharedConfigMap(object_filters_.back().get());
}

source::Sink* DiscoveryServer::WithSharedConfigMap(source::Sink* next) {
  const std::string& name = options_.environment.shared_mesh_config;
  if (name.empty()) return next;
  MeshConfigMap::Texts texts;
  texts.mesh = [this](const std::string& where, const std::string& text) {
    settings_->SetSharedMesh(where, text);
  };
  texts.networks = [this](const std::string& where, const std::string& text) {
    settings_->SetSharedNetworks(where, text);
  };
  object_filters_.push_back(std::make_unique<MeshConfigMap>(options_.ns, name, std::move(texts), next));
  return object_filters_.back().get();
}

}  // namespace fairlead::app
