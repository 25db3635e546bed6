#include "app/registration.h"

#include <limits.h>
#include <unistd.h>

#include <random>
#include <utility>

#include "app/cluster_access.h"
#include "app/cluster_writes.h"
#include "base/duration.h"
#include "base/strings.h"
#include "config/content_hash.h"
#include "registration/cluster_store.h"
#include "registration/memory_store.h"

namespace fairlead::app {
namespace {

constexpr auto kDrain = std::chrono::seconds(2);
constexpr int kSweepsAGrace = 10;

// Two replicas of one name would take each other's entries for their own.
std::string ReplicaName(const Environment& environment) {
  if (!environment.pod_name.empty()) return environment.pod_name;
  char host[HOST_NAME_MAX + 1] = "";
  gethostname(host, HOST_NAME_MAX);
  return StrCat("unknown-", host, "-", getpid());
}

// Half as much again as a connection lasts. Source: Istio's maxConnectionAge.
std::chrono::nanoseconds MostAge(const std::string& connection) {
  const auto age = connection.empty() ? std::nullopt : ParseGoDuration(connection);
  return age && age->count() > 0 ? *age + *age / 2 : std::chrono::nanoseconds(0);
}

registration::Registrar::Options RegistrarOptions(const DiscoveryOptions& options,
                                                  WorkloadRegistration::Objects objects) {
  const Environment& environment = options.environment;
  registration::Registrar::Options out;
  out.rules = {ReplicaName(environment), environment.entry_identity};
  out.registers = environment.auto_registration;
  out.takes_health = environment.entry_health;
  out.grace = environment.entry_grace;
  out.most_age = MostAge(options.keepalive_max_connection_age);
  out.sweep_every = std::max<Clock::duration>(
      std::chrono::duration_cast<Clock::duration>(environment.entry_grace * kSweepsAGrace),
      std::chrono::seconds(1));
  out.objects = std::move(objects);
  out.seed = std::random_device()();
  return out;
}

// Where health is not to count, entries are as healthy as those without checks. Source: Istio's
// PILOT_ENABLE_WORKLOAD_ENTRY_HEALTHCHECKS.
class HealthFilter : public source::Sink {
 public:
  explicit HealthFilter(source::Sink* next) : next_(next) {}
  void OnChanges(std::vector<config::ObjectChange> changes) override {
    for (config::ObjectChange& change : changes) change.object = WithoutChecks(change.object);
    next_->OnChanges(std::move(changes));
  }
  void Replace(config::Kind kind, std::vector<config::ConfigPtr> objects) override {
    for (config::ConfigPtr& object : objects) object = WithoutChecks(object);
    next_->Replace(kind, std::move(objects));
  }
  void OnDiagnostics(std::vector<config::Diagnostic> diagnostics) override {
    next_->OnDiagnostics(std::move(diagnostics));
  }
  void Synced(config::Kind kind) override { next_->Synced(kind); }
  void OnSynced() override { next_->OnSynced(); }

 private:
  static config::ConfigPtr WithoutChecks(const config::ConfigPtr& object) {
    if (object == nullptr || object->kind() != config::Kind::kWorkloadEntry ||
        !object->meta().annotations.contains(registration::kHealthAnnotation))
      return object;
    config::ObjectMeta meta = object->meta();
    meta.annotations.erase(registration::kHealthAnnotation);
    config::ContentHash hash;
    hash.Add(object->content_hash()).Add(meta);
    return std::make_shared<const config::ConfigObject>(object->kind(), std::move(meta), object->origin(),
                                                        object->SharedSpec<void>(), hash.value());
  }
  source::Sink* const next_;
};

}  // namespace

WorkloadRegistration::WorkloadRegistration(const DiscoveryOptions& options) : options_(options) {}

WorkloadRegistration::~WorkloadRegistration() { Stop(); }

absl::Status WorkloadRegistration::Start(Objects objects, Place place) {
  const Environment& environment = options_.environment;
  if (!environment.auto_registration && !environment.entry_health) return absl::OkStatus();
  registration::ClusterStore::Options cluster;
  cluster.writer = WriterOptionsOf(options_);
  cluster.objects = objects;
  cluster.origin = place.origin;
  if (ReadsCluster(options_) && environment.cluster_writes) {
    absl::StatusOr<kube::ServerAccess> access = ClusterAccessOf(options_);
    if (!access.ok()) return access.status();
    store_ =
        std::make_unique<registration::ClusterStore>(std::move(cluster), *std::move(access), place.client);
  } else if (place.transport) {
    store_ = std::make_unique<registration::ClusterStore>(std::move(cluster), std::move(place.transport));
  } else {
    auto memory = std::make_unique<registration::MemoryStore>();
    memory_ = memory.get();
    store_ = std::move(memory);
  }
  registrar_ =
      std::make_unique<registration::Registrar>(RegistrarOptions(options_, std::move(objects)), store_.get());
  return absl::OkStatus();
}

std::unique_ptr<source::Source> WorkloadRegistration::MakeSource() {
  return memory_ == nullptr ? nullptr : memory_->MakeSource();
}

std::unique_ptr<source::Sink> WorkloadRegistration::Tap(source::Sink* next) {
  if (!options_.environment.entry_health) return std::make_unique<HealthFilter>(next);
  return memory_ == nullptr ? nullptr : memory_->Tap(next);
}

void WorkloadRegistration::OnPublished(const push::Publication& now) {
  if (registrar_ != nullptr) registrar_->OnChanges(now.changes);
}

void WorkloadRegistration::Stop() {
  if (registrar_ != nullptr) registrar_->Drain(kDrain);
  if (store_ != nullptr) store_->Stop();
  registrar_.reset();
}

bool WorkloadRegistration::OnConnected(uint64_t stream, const model::ProxyPtr& proxy,
                                       std::chrono::system_clock::time_point since, Ready ready) {
  return registrar_ != nullptr && registrar_->OnConnected(stream, proxy, since, std::move(ready));
}

void WorkloadRegistration::OnHealth(uint64_t stream, bool healthy, std::string_view message) {
  if (registrar_ != nullptr) registrar_->OnHealth(stream, healthy, message);
}

void WorkloadRegistration::OnDisconnected(uint64_t stream) {
  if (registrar_ != nullptr) registrar_->OnDisconnected(stream);
}

}  // namespace fairlead::app
