#include "app/cluster_writes.h"

#include <unistd.h>

#include <climits>
#include <condition_variable>
#include <mutex>
#include <random>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "gen/endpoint/collect.h"
#include "registry/kubernetes/service.h"

namespace fairlead::app {
namespace {

using config::Kind;
using controllers::Election;

// Where istiod keeps its lock of that name, so that both take turns. Source: Istio's pilot/pkg/bootstrap.
controllers::LockObject LockObjectOf(std::string_view lock) {
  for (const char* map : {controllers::kIngressLock, controllers::kAddressLock, controllers::kNamespaceLock,
                          controllers::kTrustBundleLock, controllers::kExportLock}) {
    if (lock == map) return controllers::LockObject::kConfigMap;
  }
  return controllers::LockObject::kLease;
}

// Two replicas of one name would both lead. Source: Istio's newLeaderElection.
std::string ReplicaIdentity(const Environment& environment) {
  if (!environment.pod_name.empty()) return environment.pod_name;
  char host[HOST_NAME_MAX + 1] = "";
  gethostname(host, HOST_NAME_MAX);
  return StrCat("unknown-", host);
}

}  // namespace

kube::ApiWriter::Options WriterOptionsOf(const DiscoveryOptions& discovery) {
  kube::ApiWriter::Options options;
  options.per_second = discovery.api_rate;
  options.burst = discovery.api_burst;
  options.seed = std::random_device()();
  return options;
}

controllers::ElectionOptions ElectionOptionsOf(const DiscoveryOptions& discovery, const char* lock) {
  controllers::ElectionOptions options;
  options.ns = discovery.ns;
  options.lock = lock;
  options.object = LockObjectOf(lock);
  options.identity = ReplicaIdentity(discovery.environment);
  options.revision = discovery.environment.features.revision;
  options.enabled = discovery.environment.leader_election;
  options.seed = std::random_device()();
  return options;
}

ClusterWrites::ClusterWrites(const DiscoveryOptions& options, const kube::ServerAccess& access,
                             fetch::Client* client, Sources sources)
    : discovery_(options),
      environment_(options.environment),
      ns_(options.ns),
      cluster_(options.cluster_id),
      own_(gateway_api::OwnRevisionsOf(environment_.features.revision)),
      writer_(std::make_unique<kube::ApiWriter>(WriterOptionsOf(options), access, client)),
      roots_(
          environment_, sources.view, [this] { return LeadsInRoots(); }, writer_.get()) {
  controllers::StatusWriter::Options statuses;
  statuses.statuses = std::move(sources.statuses);
  statuses.verdicts = sources.verdicts;
  statuses.leads = [this](Kind kind) { return LeadsIn(kind); };
  statuses_ = std::make_unique<controllers::StatusWriter>(std::move(statuses), writer_.get());
  MakeSweep(sources);
  const auto look_at_statuses = [this] { statuses_->OnLeading(); };
  gateways_ = MakeElection(controllers::kGatewayStatusLock, look_at_statuses, /*per_revision=*/true);
  ingresses_ = MakeElection(controllers::kIngressLock, look_at_statuses);
  addresses_ = MakeElection(controllers::kAddressLock, look_at_statuses);
  others_ = MakeElection(controllers::kStatusLock, [this] {
    statuses_->OnLeading();
    sweep_->OnLeading();
  });
  const bool bundles = environment_.trust_bundles;
  roots_lock_ = MakeElection(bundles ? controllers::kTrustBundleLock : controllers::kNamespaceLock,
                             [this] { roots_.OnLeading(); });
  const auto look_at_gateways = [this] {
    if (classes_ != nullptr) classes_->OnPublished();
    if (deployer_ != nullptr) deployer_->OnPublished();
  };
  deployments_ = MakeElection(controllers::kDeploymentLock, look_at_gateways, /*per_revision=*/true,
                              [this] { OnTemplates(); });
  MakeGatewayWriters(sources, access, client);
  MakeExporter(sources);
  if (exports_ != nullptr) elections_.push_back(exports_.get());
  for (const auto* one : {&gateways_, &ingresses_, &addresses_, &others_, &roots_lock_, &deployments_})
    elections_.push_back(one->get());
}

void ClusterWrites::MakeSweep(const Sources& sources) {
  controllers::VerdictSweep::Options options;
  options.leads = [this] { return !stopping_ && others_->Leads(); };
  options.objects = [view = sources.view] { return view().objects; };
  options.verdicts = sources.verdicts;
  options.found = [this](const config::ConfigPtr& object) { statuses_->OnVerdictFound(object); };
  sweep_ = std::make_unique<controllers::VerdictSweep>(std::move(options), writer_.get());
}

void ClusterWrites::MakeExporter(const Sources& sources) {
  if (!environment_.export_services) return;
  controllers::ServiceExporter::Options options;
  options.objects = [view = sources.view] { return view().objects; };
  options.leads = [this] { return !stopping_ && exports_->Leads(); };
  options.cluster_local = [settings = sources.settings](const config::ConfigObject& service) {
    const model::SettingsPtr now = settings();
    if (now == nullptr) return true;
    const std::string host =
        registry::KubernetesHostname(service.name().str(), service.ns().str(), now->domain);
    return gen::IsClusterLocal(*now, host);
  };
  options.group = environment_.features.mcs_group;
  options.version = environment_.features.mcs_version;
  exporter_ = std::make_unique<controllers::ServiceExporter>(std::move(options), writer_.get());
  exports_ = MakeElection(controllers::kExportLock, [this] { exporter_->OnLeading(); });
}

controllers::GatewayPlanSettings ClusterWrites::PlanSettings(const model::Settings& settings) const {
  controllers::GatewayPlanSettings made;
  made.features = settings.features;
  made.quic = settings.gateways.quic;
  made.copy_metadata = environment_.gateway_metadata;
  made.system_namespace = ns_;
  made.cluster = cluster_;
  made.revision = environment_.features.revision;
  std::lock_guard lock(mutex_);
  made.revisions = own_;
  return made;
}

void ClusterWrites::SetOwnRevisions(gateway_api::OwnRevisions own) {
  {
    std::lock_guard lock(mutex_);
    own_ = std::move(own);
  }
  OnTemplates();
}

void ClusterWrites::OnTemplates() {
  if (!stopping_ && deployer_ != nullptr) deployer_->OnPublished();
}

void ClusterWrites::MakeGatewayWriters(const Sources& sources, const kube::ServerAccess& access,
                                       fetch::Client* client) {
  const auto leads = [this] { return !stopping_ && deployments_->Leads(); };
  if (environment_.gateway_classes) {
    controllers::GatewayClassWriter::Options options;
    options.view = [sources]() -> controllers::GatewayClassWriter::View {
      const model::SettingsPtr settings = sources.settings();
      if (settings == nullptr) return {};
      return {sources.view().objects, settings->features};
    };
    options.leads = leads;
    classes_ = std::make_unique<controllers::GatewayClassWriter>(std::move(options), writer_.get());
  }
  if (!environment_.gateway_deployments) return;
  controllers::GatewayDeployer::Options options;
  options.view = [this, sources]() -> controllers::GatewayDeployer::View {
    const model::SettingsPtr settings = sources.settings();
    if (settings == nullptr || !settings->features.gateway_api) return {};
    return {sources.view().objects, PlanSettings(*settings)};
  };
  options.templates = sources.templates;
  options.leads = leads;
  deployer_ =
      std::make_unique<controllers::GatewayDeployer>(std::move(options), access, client, writer_.get());
}

ClusterWrites::~ClusterWrites() { Stop(); }

std::unique_ptr<Election> ClusterWrites::MakeElection(const char* lock, std::function<void()> won,
                                                      bool per_revision, std::function<void()> lost) {
  controllers::ElectionOptions options = ElectionOptionsOf(discovery_, lock);
  options.per_revision = per_revision;
  Election::Callbacks callbacks{.won = std::move(won), .lost = std::move(lost)};
  return std::make_unique<Election>(std::move(options), writer_.get(), std::move(callbacks));
}

bool ClusterWrites::LeadsIn(Kind kind) const {
  if (stopping_) return false;
  if (kind == Kind::kIngress) return ingresses_->Leads();
  if (kind == Kind::kServiceEntry) return addresses_->Leads();
  if (config::InfoOf(kind).payload != config::PayloadType::kTree) return others_->Leads();
  return environment_.gateway_statuses && gateways_->Leads();
}

void ClusterWrites::OnPublished() {
  if (stopping_) return;
  if (!started_.exchange(true)) {
    for (Election* election : elections_) election->Start();
  }
  statuses_->OnPublished();
  roots_.OnPublished();
  if (classes_ != nullptr) classes_->OnPublished();
  if (deployer_ != nullptr) deployer_->OnPublished();
  if (exporter_ != nullptr) exporter_->OnPublished();
}

void ClusterWrites::Stop() {
  stopping_ = true;
  if (stopped_.exchange(true)) return;
  if (deployer_ != nullptr) deployer_->Halt();
  std::mutex mutex;
  std::condition_variable released;
  size_t left = elections_.size();
  const auto done = [&] {
    std::lock_guard lock(mutex);
    --left;
    released.notify_all();
  };
  for (Election* election : elections_) election->Release(done);
  {
    std::unique_lock lock(mutex);
    released.wait(lock, [&] { return left == 0; });
  }
  writer_->Stop();
  if (deployer_ != nullptr) deployer_->Stop();
}

}  // namespace fairlead::app
