#include "app/controlled_cluster.h"

#include <future>
#include <random>
#include <set>
#include <utility>

#include "app/cluster_writes.h"
#include "base/log.h"
#include "base/strings.h"

namespace fairlead::app {
namespace {

using config::Kind;

LogScope clusters_log("kube");

source::ClusterSource::Options SourceOptions(const kube::ServerAccess& access) {
  source::ClusterSource::Options options;
  options.access = access;
  for (const config::KindInfo& info : config::AllKinds()) {
    if (info.kind != Kind::kNamespace && info.kind != Kind::kConfigMap) options.ignored.insert(info.kind);
  }
  options.watch_definitions = false;
  options.loop.watches.streaming = true;
  options.loop.seed = std::random_device()();
  return options;
}

controllers::ElectionOptions ElectionOf(const DiscoveryOptions& discovery, std::string cluster) {
  controllers::ElectionOptions options = ElectionOptionsOf(discovery, controllers::kNamespaceLock);
  options.other_cluster = std::move(cluster);
  return options;
}

}  // namespace

void ControlledCluster::Objects::OnChanges(std::vector<config::ObjectChange> changes) {
  {
    std::lock_guard lock(mutex_);
    store_.Apply(changes);
  }
  changed_();
}

void ControlledCluster::Objects::Replace(Kind kind, std::vector<config::ConfigPtr> objects) {
  std::vector<config::ObjectChange> changes;
  std::set<config::ObjectKey> listed;
  for (config::ConfigPtr& object : objects) {
    config::ObjectKey key = config::KeyOf(*object);
    listed.insert(key);
    changes.push_back({std::move(key), std::move(object)});
  }
  {
    std::lock_guard lock(mutex_);
    for (const auto& [name, object] : store_.All(kind)) {
      config::ObjectKey key = config::KeyOf(*object);
      if (!listed.contains(key)) changes.push_back({std::move(key), nullptr});
    }
  }
  OnChanges(std::move(changes));
}

void ControlledCluster::Objects::OnSynced() {
  {
    std::lock_guard lock(mutex_);
    synced_ = true;
  }
  changed_();
}

std::optional<config::ObjectStore> ControlledCluster::Objects::All() const {
  std::lock_guard lock(mutex_);
  return synced_ ? std::optional(store_) : std::nullopt;
}

ControlledCluster::ControlledCluster(const DiscoveryOptions& options, std::string cluster,
                                     const kube::ServerAccess& access, fetch::Client* client,
                                     std::function<model::MeshConfigPtr()> mesh)
    : objects_([this] { OnPublished(); }),
      writer_(WriterOptionsOf(options), access, client),
      roots_(
          options.environment, [this, mesh = std::move(mesh)] { return ViewOf(mesh); },
          [this] { return !stopping_ && election_->Leads(); }, &writer_) {
  MakePatcher(options, access, client);
  election_ = std::make_unique<controllers::Election>(
      ElectionOf(options, std::move(cluster)), &writer_,
      controllers::Election::Callbacks{.won = [this] { roots_.OnLeading(); }, .lost = nullptr});
  source_ = std::make_unique<source::ClusterSource>(SourceOptions(access), client);
  election_->Start();
  if (!roots_.are_in_config_maps()) return;
  if (const absl::Status status = source_->Start(&objects_); !status.ok())
    clusters_log.Error("{}: {}", source_->Name(), FromAbsl(status.message()));
}

ControlledCluster::~ControlledCluster() {
  stopping_ = true;
  std::promise<void> released;
  election_->Release([&released] { released.set_value(); });
  released.get_future().wait();
  source_->Stop();
  if (watch_ != nullptr) watch_->Stop();
  writer_.Stop();
}

void ControlledCluster::MakePatcher(const DiscoveryOptions& options, const kube::ServerAccess& access,
                                    fetch::Client* client) {
  const Environment& environment = options.environment;
  controllers::WebhookPatcher::Options patcher;
  patcher.ns = options.ns;
  patcher.revision = environment.features.revision;
  patcher_ = std::make_unique<controllers::WebhookPatcher>(std::move(patcher), &writer_);
  controllers::WebhookWatch::Options watch;
  watch.revision = environment.features.revision;
  watch.mutating = !environment.identity.injection_configuration.empty();
  watch.validating = !environment.identity.validation_configuration.empty();
  watch.loop.seed = std::random_device()();
  watch_ = std::make_unique<controllers::WebhookWatch>(std::move(watch), access, client, patcher_.get());
}

controllers::RootWriter::View ControlledCluster::ViewOf(
    const std::function<model::MeshConfigPtr()>& mesh) const {
  std::optional<config::ObjectStore> all = objects_.All();
  if (!all) return {};
  return {*std::move(all), mesh()};
}

void ControlledCluster::SetWebhookRoots(const std::string& roots) {
  patcher_->SetBundle(roots);
  if (!std::exchange(watching_, true)) watch_->Start();
}

void ControlledCluster::OnPublished() {
  if (!stopping_) roots_.OnPublished();
}

}  // namespace fairlead::app
