#include "app/store_writes.h"

#include <limits.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <random>
#include <utility>

#include "app/cluster_access.h"
#include "app/cluster_writes.h"
#include "app/platform_sources.h"
#include "base/log.h"
#include "base/strings.h"

namespace fairlead::app {
namespace {

LogScope store_log("status");

// When proxies of the leader before have come over.
constexpr std::chrono::seconds kSweepDelay{60};

// Two replicas of one name would both lead.
std::string IdentityOf(const Environment& environment) {
  if (!environment.pod_name.empty()) return environment.pod_name;
  char host[HOST_NAME_MAX + 1] = "";
  gethostname(host, HOST_NAME_MAX);
  return StrCat(host, "-", getpid());
}

}  // namespace

std::string OriginOf(const source::EtcdOptions& options) { return StrCat(options.url.Name(), "/"); }

absl::StatusOr<std::optional<source::EtcdOptions>> WrittenStoreOf(const DiscoveryOptions& options) {
  std::optional<source::EtcdOptions> found;
  for (const std::string& url : PlatformUrlsOf(options)) {
    if (source::SchemeOf(url) != "etcd") continue;
    absl::StatusOr<source::EtcdOptions> etcd = source::ParseEtcdOptions(url);
    if (!etcd.ok()) return etcd.status();
    if (!etcd->writes) continue;
    if (found || ReadsCluster(options))
      return absl::InvalidArgumentError(
          ToAbsl(StrCat(etcd->url.Name(), ": option writes: ", found ? found->url.Name() : "the API server",
                        " has the statuses already")));
    etcd->seed = std::random_device()();
    found = *std::move(etcd);
  }
  return found;
}

StoreWrites::StoreWrites(const DiscoveryOptions& options, source::EtcdStore* store, std::string origin,
                         Sources sources)
    : store_(store),
      objects_(std::move(sources.objects)),
      writer_(std::make_unique<kube::ApiWriter>(
          WriterOptionsOf(options),
          [store](kube::ApiRequest request, std::function<void(fetch::WholeAnswer)> done) {
            store->Ask(std::move(request), std::move(done));
          })) {
  controllers::StatusWriter::Options statuses;
  statuses.statuses = std::move(sources.statuses);
  statuses.verdicts = std::move(sources.verdicts);
  statuses.kept_apart = true;
  statuses.has_place = [origin = std::move(origin)](const config::ConfigObject& object) {
    return std::string_view(object.origin().file).starts_with(origin) &&
           !object.meta().resource_version.empty();
  };
  // The status of a WorkloadEntry is its proxy's: registration has that.
  statuses.leads = [this](config::Kind kind) {
    return !stopping_ && kind != config::Kind::kWorkloadEntry && election_->Leads();
  };
  statuses_ = std::make_unique<controllers::StatusWriter>(std::move(statuses), writer_.get());
  controllers::ElectionOptions election;
  election.ns = options.ns;
  election.lock = controllers::kStatusLock;
  if (!options.environment.revision.empty()) election.revision = options.environment.revision;
  election.identity = IdentityOf(options.environment);
  election.enabled = options.environment.leader_election;
  election.seed = std::random_device()();
  controllers::Election::Callbacks callbacks;
  callbacks.won = [this] {
    statuses_->OnLeading();
    SweepLater();
  };
  election_ =
      std::make_unique<controllers::Election>(std::move(election), writer_.get(), std::move(callbacks));
}

StoreWrites::~StoreWrites() { Stop(); }

void StoreWrites::OnPublished() {
  if (stopping_) return;
  if (!started_.exchange(true)) election_->Start();
  statuses_->OnPublished();
}

void StoreWrites::SweepLater() {
  writer_->Run([this] { sweeping_.Submit(Urgency::kPatient, [this] { Sweep(); }); },
               Clock::now() + kSweepDelay);
}

// Statuses that an earlier leader left: of objects that are gone, or with verdicts of proxies that went.
void StoreWrites::Sweep() {
  if (stopping_ || !election_->Leads()) return;
  const auto left = store_->SweepStatuses();
  if (!left.ok()) {
    store_log.Warn("statuses in etcd are not tidied up: {}", FromAbsl(left.status().message()));
    return;
  }
  const config::ObjectStore objects = objects_();
  for (const config::ObjectKey& key : *left) {
    if (config::InfoOf(key.kind).payload == config::PayloadType::kTree) continue;
    if (const auto object = objects.Find(key.kind, key.ns, key.name); object != nullptr)
      writer_->Run([this, object] { statuses_->OnVerdictFound(object); });
  }
}

void StoreWrites::Stop() {
  stopping_ = true;
  if (stopped_.exchange(true)) return;
  std::mutex mutex;
  std::condition_variable released;
  bool over = false;
  election_->Release([&] {
    std::lock_guard lock(mutex);
    over = true;
    released.notify_all();
  });
  {
    std::unique_lock lock(mutex);
    released.wait(lock, [&] { return over; });
  }
  writer_->Stop();
  sweeping_.Stop();
}

}  // namespace fairlead::app
