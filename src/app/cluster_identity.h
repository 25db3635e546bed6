#ifndef FAIRLEAD_APP_CLUSTER_IDENTITY_H_
#define FAIRLEAD_APP_CLUSTER_IDENTITY_H_

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "app/discovery_options.h"
#include "ca/secret_reviews.h"
#include "controllers/webhook_patcher.h"
#include "controllers/webhook_watch.h"
#include "fetch/client.h"
#include "kube/access.h"
#include "kube/api_writer.h"
#include "kube/review_servers.h"
#include "model/secret_readers.h"

namespace fairlead::app {

// The part of clusters' API servers in identities: they say whose tokens are and who may have Secrets, and
// are told what vouches for our webhooks.
class ClusterIdentity {
 public:
  struct Sources {
    // How another cluster is reached; nothing where there is none. Thread-safe.
    std::function<std::optional<kube::ReviewServers::Remote>(const std::string& cluster)> find;
    std::function<void(model::SecretReadersPtr)> secret_readers;
  };
  // `options` and client must outlive it.
  ClusterIdentity(const DiscoveryOptions& options, kube::ServerAccess access, fetch::Client* client,
                  Sources sources);
  ~ClusterIdentity();  // as Stop()

  // Before the first publication: who may have Secrets is a question from then on.
  void Start();
  // One question to the API server of a cluster ("": the own one); blocks. Thread-safe.
  kube::ApiAnswer Review(const std::string& cluster, kube::ApiRequest request) {
    return servers_.Ask(cluster, std::move(request));
  }
  // What vouches for the webhooks' certificate, PEM. The webhooks are there. Thread-safe.
  void SetWebhookRoots(const std::string& roots);
  void Stop();

 private:
  void MakePatcher(const DiscoveryOptions& options, const kube::ServerAccess& access, fetch::Client* client);

  kube::ReviewServers servers_;
  const std::shared_ptr<ca::SecretReviews> secrets_;
  std::unique_ptr<kube::ApiWriter> writer_;  // null where nothing is to be written, as the two below
  std::unique_ptr<controllers::WebhookPatcher> patcher_;
  std::unique_ptr<controllers::WebhookWatch> watch_;
  std::mutex mutex_;
  bool watching_ = false, stopped_ = false;  // guarded by mutex_
};

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_CLUSTER_IDENTITY_H_
