#include "app/cluster_identity.h"

#include <random>
#include <utility>

namespace fairlead::app {
namespace {

ca::SecretReviewOptions SecretOptions(const Environment& environment, kube::ReviewServers* servers,
                                      std::function<void(model::SecretReadersPtr)> take) {
  ca::SecretReviewOptions options;
  options.send = [servers](const std::string& cluster, kube::ApiRequest request,
                           std::function<void(const kube::ApiAnswer&)> done) {
    servers->Send(cluster, std::move(request), std::move(done));
  };
  options.take = std::move(take);
  options.other_clusters = environment.remote_credentials;
  return options;
}

kube::ReviewServers::Options ServerOptions(
    std::function<std::optional<kube::ReviewServers::Remote>(const std::string&)> find) {
  kube::ReviewServers::Options options;
  options.find = std::move(find);
  return options;
}

}  // namespace

ClusterIdentity::ClusterIdentity(const DiscoveryOptions& options, kube::ServerAccess access,
                                 fetch::Client* client, Sources sources)
    : servers_(ServerOptions(std::move(sources.find)), access, client),
      secrets_(std::make_shared<ca::SecretReviews>(
          SecretOptions(options.environment, &servers_, std::move(sources.secret_readers)))) {
  if (options.environment.cluster_writes) MakePatcher(options, access, client);
}

ClusterIdentity::~ClusterIdentity() { Stop(); }

void ClusterIdentity::MakePatcher(const DiscoveryOptions& options, const kube::ServerAccess& access,
                                  fetch::Client* client) {
  const Environment& environment = options.environment;
  const std::string& revision = environment.features.revision;
  kube::ApiWriter::Options writer;
  writer.seed = std::random_device()();
  writer_ = std::make_unique<kube::ApiWriter>(writer, access, client);
  controllers::WebhookPatcher::Options patcher;
  patcher.ns = options.ns;
  patcher.revision = revision;
  patcher_ = std::make_unique<controllers::WebhookPatcher>(std::move(patcher), writer_.get());
  controllers::WebhookWatch::Options watch;
  watch.revision = revision;
  watch.mutating = !environment.identity.injection_configuration.empty();
  watch.validating = !environment.identity.validation_configuration.empty();
  watch.loop.seed = std::random_device()();
  watch_ = std::make_unique<controllers::WebhookWatch>(std::move(watch), access, client, patcher_.get());
}

void ClusterIdentity::Start() { secrets_->Start(); }

void ClusterIdentity::SetWebhookRoots(const std::string& roots) {
  if (patcher_ == nullptr) return;
  patcher_->SetBundle(roots);
  std::lock_guard lock(mutex_);
  if (stopped_ || std::exchange(watching_, true)) return;
  watch_->Start();
}

void ClusterIdentity::Stop() {
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(stopped_, true)) return;
  }
  if (watch_ != nullptr) watch_->Stop();
  secrets_->Stop();
  servers_.Stop();
  if (writer_ != nullptr) writer_->Stop();
}

}  // namespace fairlead::app
