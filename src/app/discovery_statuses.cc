#include <algorithm>
#include <optional>
#include <random>
#include <utility>

#include "app/cluster_access.h"
#include "app/discovery_server.h"
#include "base/files.h"
#include "base/strings.h"
#include "ca/root_secret.h"
#include "controllers/metrics.h"
#include "gateway_api/status/proxy_verdicts.h"
#include "push/stream/rejection_report.h"
#include "source/cluster/remote_clusters.h"

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
  status_board_->SetOwnRevisions(gateway_api::OwnRevisionsOf(options_.environment.features.revision));
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

// What is read from an API server is written to it.
absl::Status DiscoveryServer::MakeClusterWrites() {
  controllers::Metrics();
  controllers::LeaderGauge(controllers::kIngressLock);
  if (!ReadsCluster(options_)) return absl::OkStatus();
  api_client_ = std::make_unique<fetch::Client>();
  absl::StatusOr<kube::ServerAccess> access = ClusterAccessOf(options_);
  if (!access.ok()) return access.status();
  MakeClusterIdentity(*access);
  MakeTagWatch(*access);
  if (!options_.environment.cluster_writes) return absl::OkStatus();
  ClusterWrites::Sources sources;
  sources.statuses = [this] { return status_board_->Current(); };
  sources.verdicts = Conditions();
  sources.view = [this]() -> controllers::RootWriter::View {
    const mesh::SnapshotPtr snapshot = pusher_->Snapshot();
    return {loop_->Objects().written(), snapshot == nullptr ? nullptr : snapshot->settings->mesh};
  };
  sources.settings = [this]() -> model::SettingsPtr {
    const mesh::SnapshotPtr snapshot = pusher_->Snapshot();
    return snapshot == nullptr ? nullptr : snapshot->settings;
  };
  sources.templates = [this]() -> controllers::GatewayDeployer::Templates {
    webhook::Injector* const injector = webhooks_ == nullptr ? nullptr : webhooks_->injector();
    if (injector == nullptr) return {};
    return {injector->configuration(), injector->surroundings(), injector->engine()};
  };
  cluster_writes_ =
      std::make_unique<ClusterWrites>(options_, *std::move(access), api_client_.get(), std::move(sources));
  MakeControlledClusters();
  return absl::OkStatus();
}

void DiscoveryServer::MakeControlledClusters() {
  if (!options_.environment.external_control_plane) return;
  ControlledClusters::Sources sources;
  sources.objects = [this] { return loop_->Objects().written(); };
  sources.mesh = [this]() -> model::MeshConfigPtr {
    const mesh::SnapshotPtr snapshot = pusher_->Snapshot();
    return snapshot == nullptr ? nullptr : snapshot->settings->mesh;
  };
  sources.find = [this](const std::string& cluster) -> std::optional<source::RemoteClusters::Access> {
    return remote_clusters_ == nullptr ? std::nullopt : remote_clusters_->FindAccess(cluster);
  };
  controlled_ = std::make_unique<ControlledClusters>(options_, api_client_.get(), std::move(sources));
}

// Statuses are written and Gateways deployed by the revision that a tag points to.
void DiscoveryServer::MakeTagWatch(kube::ServerAccess access) {
  controllers::TagWatch::Options options;
  options.revision = options_.environment.features.revision;
  options.ns = options_.ns;
  options.changed = [this](const gateway_api::OwnRevisions& own) {
    status_board_->SetOwnRevisions(own);
    if (cluster_writes_ != nullptr) cluster_writes_->SetOwnRevisions(own);
    OnStatuses();
  };
  options.loop.seed = std::random_device()();
  tags_ = std::make_unique<controllers::TagWatch>(std::move(options), std::move(access), api_client_.get());
}

// What is read from etcd is written to it, where its URL says so.
absl::Status DiscoveryServer::MakeStoreWrites() {
  auto etcd = WrittenStoreOf(options_);
  if (!etcd.ok()) return etcd.status();
  if (!etcd->has_value()) return absl::OkStatus();
  store_origin_ = OriginOf(**etcd);
  source::EtcdStore::Options options;
  options.entry_seconds =
      std::max(options.entry_seconds,
               3 * std::chrono::ceil<std::chrono::seconds>(options_.environment.entry_grace).count());
  options.etcd = *std::move(*etcd);
  auto store = source::EtcdStore::Open(std::move(options));
  if (!store.ok()) return store.status();
  store_ = *std::move(store);
  StoreWrites::Sources sources;
  sources.statuses = [this] { return status_board_->Current(); };
  sources.verdicts = Conditions();
  sources.objects = [this] { return loop_->Objects().written(); };
  store_writes_ = std::make_unique<StoreWrites>(options_, store_.get(), store_origin_, std::move(sources));
  return absl::OkStatus();
}

absl::Status DiscoveryServer::StartRegistration() {
  const auto objects = [this] { return loop_->Objects().written(); };
  WorkloadRegistration::Place place;
  place.client = api_client_.get();
  if (store_ != nullptr) {
    place.origin = store_origin_;
    place.transport = [this](kube::ApiRequest request, std::function<void(fetch::WholeAnswer)> done) {
      store_->Ask(std::move(request), std::move(done));
    };
  }
  return registration_.Start(objects, std::move(place));
}

void DiscoveryServer::MakeClusterIdentity(kube::ServerAccess access) {
  ClusterIdentity::Sources sources;
  sources.find = [this](const std::string& cluster) -> std::optional<kube::ReviewServers::Remote> {
    if (remote_clusters_ == nullptr) return std::nullopt;
    auto found = remote_clusters_->FindAccess(cluster);
    if (!found) return std::nullopt;
    return kube::ReviewServers::Remote{std::move(found->access), std::move(found->kubeconfig)};
  };
  sources.secret_readers = [this](model::SecretReadersPtr readers) { loop_->Set(std::move(readers)); };
  identity_ =
      std::make_unique<ClusterIdentity>(options_, std::move(access), api_client_.get(), std::move(sources));
}

// The authority may be in one of them.
void DiscoveryServer::TellSecrets(std::span<const config::ObjectChange> changes) {
  if (cluster_writes_ == nullptr || certificates_ == nullptr) return;
  for (const config::ObjectChange& change : changes) {
    const config::ObjectKey& key = change.key;
    if (key.kind != config::Kind::kSecret || !key.cluster.empty() || std::string_view(key.ns) != options_.ns)
      continue;
    if (std::string_view(key.name) == ca::kOwnSecret || std::string_view(key.name) == ca::kPluggedInSecret)
      return certificates_->OnSecretChanged();
  }
}

// They may have changed.
void DiscoveryServer::OnStatuses() {
  if (status_files_ != nullptr) status_files_->OnPublished();
  if (cluster_writes_ != nullptr) cluster_writes_->OnPublished();
  if (controlled_ != nullptr) controlled_->OnPublished();
  if (store_writes_ != nullptr) store_writes_->OnPublished();
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
                            OnStatuses();
                          }});
  reference_watch_.Start({objects, options_.domain, sink("references")});
}

}  // namespace fairlead::app
